"""Networks of queues: closed ones, which the model closed-network solves, and open ones."""
