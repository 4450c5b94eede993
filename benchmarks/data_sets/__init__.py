"""Public measurements, one file for each data set: `FOLDER`, and `jobs(folder)` that reads what is there."""
