"""The ARFF format of WEKA, which the MULAN, MEKA and KEEL formats share."""
