// Panels and drawing.
