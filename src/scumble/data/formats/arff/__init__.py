"""What MULAN, MEKA and KEEL files have in common: the ARFF format of WEKA."""
