//! Counting right and wrong answers.

use serde::Serialize;

/// Answers to yes-or-no questions, by what was true and what was said.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LadderScore {
    /// Said yes, and it is.
    pub true_yes: usize,
    /// Said yes, but it is not.
    pub false_yes: usize,
    /// Said no, but it is.
    pub false_no: usize,
    /// Said no, and it is not.
    pub true_no: usize,
    /// Of those said no: nothing was said at all, the ladder was not noticed.
    pub unnoticed: usize,
}

impl LadderScore {
    /// Counts one answer.
    pub fn add(&mut self, truth: bool, answer: Answer) {
        match (truth, answer == Answer::Yes) {
            (true, true) => self.true_yes += 1,
            (false, true) => self.false_yes += 1,
            (true, false) => self.false_no += 1,
            (false, false) => self.true_no += 1,
        }
        self.unnoticed += usize::from(answer == Answer::Nothing);
    }

    /// Adds another count.
    pub fn join(&mut self, other: LadderScore) {
        self.true_yes += other.true_yes;
        self.false_yes += other.false_yes;
        self.false_no += other.false_no;
        self.true_no += other.true_no;
        self.unnoticed += other.unnoticed;
    }

    /// How many questions.
    pub fn count(&self) -> usize {
        self.true_yes + self.false_yes + self.false_no + self.true_no
    }

    /// The share of right answers.
    pub fn accuracy(&self) -> f64 {
        share(self.true_yes + self.true_no, self.count())
    }

    /// Of what was said to be so, the share that is.
    pub fn precision(&self) -> f64 {
        share(self.true_yes, self.true_yes + self.false_yes)
    }

    /// Of what is so, the share that was said.
    pub fn recall(&self) -> f64 {
        share(self.true_yes, self.true_yes + self.false_no)
    }
}

/// What a network says to a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The move works.
    Yes,
    /// The move does not work.
    No,
    /// It sees no ladder there.
    Nothing,
}

fn share(part: usize, whole: usize) -> f64 {
    if whole == 0 {
        f64::NAN
    } else {
        part as f64 / whole as f64
    }
}
