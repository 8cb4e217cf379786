"""Training: records, data generation, losses, calibration and evaluation."""
