"""The product attacked: killed at random moments, fed hostile records, given damaged files."""
