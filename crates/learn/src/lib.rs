//! Training: data sets, models, losses, loops, checkpoints and curves.
#![forbid(unsafe_code)]

pub mod batch;

pub mod param;

pub mod layer;

pub mod model;

pub mod loss;

pub mod optimiser;

pub mod average;

pub mod history;

pub mod checkpoint;

pub mod events;

pub mod curves;

pub mod shuffle;

mod protobuf;

pub mod settings;

pub mod trainer;

pub mod go_task;

pub mod mario_task;

pub mod safety_task;

pub mod surgery;

pub mod onnx;
