"""Code shared by all trainings: symmetries, splits, array writers, checkpoints, ranks, schedules."""
