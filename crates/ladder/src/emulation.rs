//! A circuit in whole numbers, evaluated formula by formula.
//!
//! It knows nothing of convolutions, weight rows or the places planes are stored in: it is what the compiled network
//! is compared with.

use std::collections::HashMap;

use crate::circuit::{Change, Circuit, INPUT_PLANES};
use crate::formula::{Plane, Sum};

/// One plane of whole numbers, row by row from the south.
pub type Values = Vec<i64>;

/// The lasting and inner planes after one layer.
#[derive(Clone, Debug, Default)]
pub struct Snapshot {
    /// What the layer is, such as `block 3, inner`.
    pub layer: String,
    /// The planes that exist there.
    pub values: HashMap<Plane, Values>,
}

/// Evaluates every formula on a board of `size` rows; the result has the input layer, then two layers a block.
pub fn emulate(circuit: &Circuit, size: usize, input: &[Values]) -> Vec<Snapshot> {
    assert_eq!(input.len(), INPUT_PLANES);
    let given: HashMap<Plane, Values> = (0..INPUT_PLANES)
        .map(|index| (Plane(index), input[index].clone()))
        .collect();
    let first = evaluate(size, &given, &circuit.input);
    let mut layers = vec![Snapshot {
        layer: "input layer".into(),
        values: first,
    }];
    for (index, block) in circuit.blocks.iter().enumerate() {
        let before = &layers[layers.len() - 1].values;
        let inner = evaluate(size, before, &block.inner);
        let mut after = before.clone();
        for (plane, change) in &block.changes {
            let value = match change {
                Change::New(sum) | Change::Replace { sum, .. } => add_up(size, &inner, sum),
                Change::Add(sum) => {
                    let mut value = add_up(size, &inner, sum);
                    for (new, old) in value.iter_mut().zip(&before[plane]) {
                        *new += old;
                    }
                    value
                }
                Change::Drop => {
                    after.remove(plane);
                    continue;
                }
            };
            after.insert(*plane, relu(value));
        }
        layers.push(Snapshot {
            layer: format!("block {}, inner", index + 1),
            values: inner,
        });
        layers.push(Snapshot {
            layer: format!("block {}", index + 1),
            values: after,
        });
    }
    layers
}

fn evaluate(
    size: usize,
    planes: &HashMap<Plane, Values>,
    formulas: &[(Plane, Sum)],
) -> HashMap<Plane, Values> {
    formulas
        .iter()
        .map(|(plane, sum)| (*plane, relu(add_up(size, planes, sum))))
        .collect()
}

fn add_up(size: usize, planes: &HashMap<Plane, Values>, sum: &Sum) -> Values {
    let mut values = vec![i64::from(sum.constant); size * size];
    for term in &sum.terms {
        let source = &planes[&term.plane];
        for y in 0..size {
            for x in 0..size {
                let from_x = x.checked_add_signed(term.step.x.into());
                let from_y = y.checked_add_signed(term.step.y.into());
                if let (Some(from_x), Some(from_y)) = (from_x, from_y)
                    && from_x < size
                    && from_y < size
                {
                    values[y * size + x] += i64::from(term.weight) * source[from_y * size + from_x];
                }
            }
        }
    }
    values
}

fn relu(mut values: Values) -> Values {
    for value in &mut values {
        *value = (*value).max(0);
    }
    values
}
