"""The names of the methods, for whoever must not wait for scikit-learn."""

NONE = "none"
NAMES = (NONE, "mean", "abtt", "kmeans+mean", "kmeans+mean+pca", "gmm+mean+pca", "whitening")
