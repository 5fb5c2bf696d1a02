"""The web application over surveys and a live encoder."""
