//! Every way to write a workflow, and how it becomes definitions and plans.
