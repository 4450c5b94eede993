"""Jobs that papers ran, to run and measure again: training on MNIST, images, inference, more of MLlib, TPC-DS."""
