"""What `bench_baselines.py` is made of: cases, the systems compared, scores, and their report."""
