"""Fine-tuning: a classifier, or a regression, from an encoder and a labelled corpus."""
