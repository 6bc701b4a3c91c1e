"""The pages of trainings and of trained models."""
