"""What users pass in, checked once: labels, features, frames, categorical columns, label parents."""
