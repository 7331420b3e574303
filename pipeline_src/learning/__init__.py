"""What every training shares: symmetries, splits, writers, checkpoints, ranks, schedules."""
