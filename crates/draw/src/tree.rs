//! Trees: of proofs, of moves, of anything that branches.

use crate::canvas::{Anchor, Canvas, Rgb, text_width};
use crate::style;

/// A node of a tree and what hangs below it.
#[derive(Clone, Debug)]
pub struct Node {
    /// What is written in the node, such as a move.
    pub label: String,
    /// What is written beside the line to it, such as "and 3 more"; often empty.
    pub note: String,
    /// The node's colour, such as whose move it is or whether it is won.
    pub fill: Rgb,
    /// From left to right.
    pub children: Vec<Node>,
}

impl Node {
    /// A node without children.
    pub fn new(label: &str, fill: Rgb) -> Self {
        Self {
            label: label.to_owned(),
            note: String::new(),
            fill,
            children: Vec::new(),
        }
    }
}

/// A tree to draw, its root at the left and each move one column further right.
#[derive(Clone, Debug)]
pub struct Tree {
    /// Written above the tree.
    pub title: String,
    /// What everything hangs on.
    pub root: Node,
}

const COLUMN: f64 = 74.0;
const ROW: f64 = 26.0;
const MARGIN: f64 = 16.0;
const HEADER: f64 = 34.0;
const NODE_HEIGHT: f64 = 19.0;

/// A node with its place: column, and row in whole and half rows.
struct Placed<'a> {
    node: &'a Node,
    column: usize,
    row: f64,
    parent: Option<usize>,
}

impl Tree {
    /// The picture. Leaves stand one below the other; a node stands in the middle of its children.
    pub fn canvas(&self) -> Canvas {
        let mut placed = Vec::new();
        let mut next_row = 0.0;
        place(&self.root, 0, None, &mut next_row, &mut placed);
        let columns = placed.iter().map(|node| node.column).max().unwrap_or(0) + 1;
        let widest = placed
            .iter()
            .map(|node| width(node.node))
            .fold(0.0, f64::max);
        let column_width = COLUMN.max(widest + 28.0);
        let title = text_width(&self.title, style::TITLE_SIZE) + 2.0 * MARGIN;
        let mut canvas = Canvas::new(
            (2.0 * MARGIN + (columns as f64 - 1.0) * column_width + widest).max(title),
            HEADER + MARGIN + next_row * ROW,
            style::PAPER,
        );
        canvas.title(&self.title);
        let at = |node: &Placed| {
            (
                MARGIN + node.column as f64 * column_width,
                HEADER + (node.row + 0.5) * ROW,
            )
        };
        for node in &placed {
            if let Some(parent) = node.parent {
                let (from, to) = (at(&placed[parent]), at(node));
                let start = (from.0 + width(placed[parent].node), from.1);
                let bend = to.0 - 12.0;
                canvas.line(
                    &[start, (bend, from.1), (bend, to.1), to],
                    style::CURVE_RAW,
                    1.2,
                );
            }
        }
        for node in &placed {
            draw_node(&mut canvas, node.node, at(node));
        }
        canvas
    }

    /// The picture as SVG.
    pub fn to_svg(&self) -> String {
        self.canvas().to_svg()
    }
}

/// Children before their parents' rows are known: a proof can be deeper than a stack.
fn place<'a>(
    root: &'a Node,
    column: usize,
    parent: Option<usize>,
    next_row: &mut f64,
    placed: &mut Vec<Placed<'a>>,
) {
    let mut open = vec![(root, column, parent)];
    while let Some((node, column, parent)) = open.pop() {
        let index = placed.len();
        placed.push(Placed {
            node,
            column,
            row: 0.0,
            parent,
        });
        if node.children.is_empty() {
            placed[index].row = *next_row;
            *next_row += 1.0;
        }
        let children = node.children.iter().rev();
        open.extend(children.map(|child| (child, column + 1, Some(index))));
    }
    // Children follow their parent, so that going backwards their rows are known.
    let mut ends: Vec<Option<(f64, f64)>> = vec![None; placed.len()];
    for index in (0..placed.len()).rev() {
        if let Some((first, last)) = ends[index] {
            placed[index].row = (first + last) / 2.0;
        }
        let row = placed[index].row;
        if let Some(parent) = placed[index].parent {
            let (first, last) = ends[parent].unwrap_or((row, row));
            ends[parent] = Some((first.min(row), last.max(row)));
        }
    }
}

fn width(node: &Node) -> f64 {
    text_width(&node.label, style::LABEL_SIZE).max(10.0) + 12.0
}

fn draw_node(canvas: &mut Canvas, node: &Node, (x, y): (f64, f64)) {
    let size = (width(node), NODE_HEIGHT);
    canvas.rectangle((x, y - NODE_HEIGHT / 2.0), size, node.fill);
    let Rgb(red, green, blue) = node.fill;
    let bright = u32::from(red) * 3 + u32::from(green) * 6 + u32::from(blue);
    let ink = if bright > 1275 {
        style::INK
    } else {
        style::PAPER
    };
    let middle = (x + size.0 / 2.0, y + style::LABEL_SIZE * 0.36);
    canvas.text(middle, &node.label, style::LABEL_SIZE, ink, Anchor::Middle);
    if !node.note.is_empty() {
        let beside = (x + size.0 + 4.0, y - 5.0);
        canvas.text(
            beside,
            &node.note,
            style::LABEL_SIZE - 2.0,
            style::FAINT_INK,
            Anchor::Start,
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn placed(root: &Node) -> Vec<Placed<'_>> {
        let (mut all, mut next_row) = (Vec::new(), 0.0);
        place(root, 0, None, &mut next_row, &mut all);
        all
    }

    #[test]
    fn no_two_nodes_share_a_place_and_parents_stand_between_their_children() {
        let mut root = Node::new("root", style::WHITE);
        for width in [3, 1, 2] {
            let mut child = Node::new("child", style::BLACK);
            child.children = vec![Node::new("leaf", style::WHITE); width];
            root.children.push(child);
        }
        let all = placed(&root);
        assert_eq!(all.len(), 1 + 3 + 6);
        for (index, first) in all.iter().enumerate() {
            for second in &all[..index] {
                let apart = (first.row - second.row).abs() >= 1.0;
                assert!(first.column != second.column || apart);
            }
        }
        // Its children stand in rows 1, 3 and 4.5.
        assert_eq!(all[0].row, 2.75);
    }

    #[test]
    fn a_deep_tree_needs_no_deep_stack() {
        let mut root = Node::new("leaf", style::WHITE);
        for _ in 0..1000 {
            let mut above = Node::new("node", style::BLACK);
            above.children = vec![root];
            root = above;
        }
        let tree = Tree {
            title: "deep".to_owned(),
            root,
        };
        assert_eq!(tree.to_svg().matches("<text").count(), 1002);
    }
}
