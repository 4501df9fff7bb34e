//! Each of our planes on a drawn position, with a drawing of what it must hold by its definition.
//! `X` is black, `O` white; the target is white. In the drawings of planes a dot is zero.

mod drawing;

mod plays;
mod regions;
mod stones;
