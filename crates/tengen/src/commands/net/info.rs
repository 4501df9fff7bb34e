//! `tengen net info`.

use std::path::PathBuf;
use std::process::ExitCode;

use net::{NetworkContent, NetworkFile, sha256, statistics};
use serde_json::json;

/// Print shape, version, hash and statistics of a network file.
///
/// Example: tengen net info best-network.gz --layers
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// The network file.
    file: PathBuf,
    /// One line for every layer, too.
    #[arg(long)]
    layers: bool,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let file = NetworkFile::load(&args.file)?;
    let sha256 = sha256(&args.file)?;
    let network = file.content.to_network();
    let layers = statistics(&network);
    let (mut shape, mut kata) = (None, None);
    let format = match &file.content {
        NetworkContent::Leela(leela, _) => {
            shape = Some(leela.shape());
            format!("Leela Zero version {}", leela.version.number())
        }
        NetworkContent::KataGo(network) => {
            kata = Some(network);
            format!("KataGo version {}", network.header.version)
        }
        NetworkContent::Compact(_) => "compact".to_owned(),
    };
    let blocks = shape.map(|shape| shape.blocks);
    let blocks = blocks.or(kata.map(|kata| kata.blocks()));
    let filters = shape.map(|shape| shape.filters);
    let filters = filters.or(kata.map(|kata| kata.channels()));
    let input = network.input;
    if args.json {
        let layers: Vec<_> = layers
            .iter()
            .map(|layer| {
                json!({
                    "name": layer.name, "parameters": layer.parameters, "min": layer.least, "max": layer.greatest,
                    "mean": layer.mean, "deviation": layer.deviation, "zeros": layer.zeros,
                })
            })
            .collect();
        let outputs = network.io_shape().outputs;
        let outputs: Vec<_> = outputs
            .iter()
            .map(|output| json!({"name": output.name, "len": output.range.len()}))
            .collect();
        println!(
            "{}",
            json!({
                "file": args.file, "format": format, "sha256": sha256, "bytes": file.bytes,
                "parameters": network.parameters(),
                "input": {"planes": input.planes, "height": input.height, "width": input.width},
                "outputs": outputs,
                "value_of": format!("{:?}", network.perspective),
                "name": kata.map(|kata| &kata.header.name), "globals": network.globals,
                "any_board_size": network.at_size(9, 9).is_ok(),
                "blocks": blocks, "filters": filters,
                "policy_planes": shape.map(|shape| shape.policy_planes),
                "value_planes": shape.map(|shape| shape.value_planes),
                "value_hidden": shape.map(|shape| shape.value_hidden),
                "layers": layers,
            })
        );
        return Ok(ExitCode::SUCCESS);
    }
    println!("file        {} ({} bytes)", args.file.display(), file.bytes);
    println!("format      {format}");
    println!("sha256      {sha256}");
    println!(
        "input       {} planes of {}x{}",
        input.planes, input.height, input.width
    );
    if network.globals > 0 {
        println!("globals     {}", network.globals);
    }
    if go_player::TengenEncoder::fits(&network.io_shape()) {
        println!("family      Tengen, Go on any board from 2x2 to 25x25");
    }
    if let Some(kata) = kata {
        println!("name        {}", kata.header.name);
        println!(
            "tower       {} blocks x {} channels, any board from 2x2 to 25x25",
            kata.blocks(),
            kata.channels()
        );
        let by = &kata.header.multipliers;
        println!(
            "multipliers score {}, deviation {}, lead {}, variance time {}, short-term errors {} and {}",
            by.score_mean(),
            by.score_stdev(),
            by.lead(),
            by.variance_time(),
            by.shortterm_value_error(),
            by.shortterm_score_error()
        );
    }
    if let Some(shape) = shape {
        println!(
            "tower       {} blocks x {} filters",
            shape.blocks, shape.filters
        );
        println!(
            "heads       {} policy planes, {} value planes, {} hidden units",
            shape.policy_planes, shape.value_planes, shape.value_hidden
        );
    }
    let outputs = network.io_shape().outputs;
    let outputs: Vec<_> = outputs
        .iter()
        .map(|output| format!("{} ({})", output.name, output.range.len()))
        .collect();
    println!("outputs     {}", outputs.join(", "));
    println!("value of    {:?}", network.perspective);
    println!("parameters  {}", network.parameters());
    let least = layers
        .iter()
        .map(|layer| layer.least)
        .fold(f32::INFINITY, f32::min);
    let greatest = layers
        .iter()
        .map(|layer| layer.greatest)
        .fold(f32::NEG_INFINITY, f32::max);
    println!("weights     {least:.4} to {greatest:.4}, batch normalisation folded in");
    if args.layers {
        println!(
            "{:<36} {:>10} {:>10} {:>10} {:>10} {:>10}",
            "layer", "parameters", "min", "max", "mean", "deviation"
        );
        for layer in layers {
            println!(
                "{:<36} {:>10} {:>10.4} {:>10.4} {:>10.5} {:>10.5}",
                layer.name,
                layer.parameters,
                layer.least,
                layer.greatest,
                layer.mean,
                layer.deviation
            );
        }
    }
    Ok(ExitCode::SUCCESS)
}
