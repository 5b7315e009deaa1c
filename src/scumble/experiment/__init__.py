"""Data sets x resamplers x classifiers x metrics. Nothing is here yet."""
