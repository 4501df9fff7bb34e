//! Counting right, wrong and missing answers.

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
    /// Nothing was said, and it is.
    pub silent_yes: usize,
    /// Nothing was said, and it is not.
    pub silent_no: usize,
}

impl LadderScore {
    /// Counts one answer.
    pub fn add(&mut self, truth: bool, answer: Answer) {
        let count = match (truth, answer) {
            (true, Answer::Yes) => &mut self.true_yes,
            (false, Answer::Yes) => &mut self.false_yes,
            (true, Answer::No) => &mut self.false_no,
            (false, Answer::No) => &mut self.true_no,
            (true, Answer::Nothing) => &mut self.silent_yes,
            (false, Answer::Nothing) => &mut self.silent_no,
        };
        *count += 1;
    }

    /// Adds another count.
    pub fn join(&mut self, other: LadderScore) {
        self.true_yes += other.true_yes;
        self.false_yes += other.false_yes;
        self.false_no += other.false_no;
        self.true_no += other.true_no;
        self.silent_yes += other.silent_yes;
        self.silent_no += other.silent_no;
    }

    /// How many questions were asked.
    pub fn count(&self) -> usize {
        self.answered() + self.silent_yes + self.silent_no
    }

    /// How many were answered.
    pub fn answered(&self) -> usize {
        self.true_yes + self.false_yes + self.false_no + self.true_no
    }

    /// The share of questions that were answered.
    pub fn coverage(&self) -> f64 {
        share(self.answered(), self.count())
    }

    /// Of the answers, the share that is right.
    pub fn accuracy(&self) -> f64 {
        share(self.true_yes + self.true_no, self.answered())
    }

    /// Of what was said to be so, the share that is.
    pub fn precision(&self) -> f64 {
        share(self.true_yes, self.true_yes + self.false_yes)
    }

    /// Of all that is so, answered or not, the share that was said.
    pub fn recall(&self) -> f64 {
        share(
            self.true_yes,
            self.true_yes + self.false_no + self.silent_yes,
        )
    }
}

/// What a network says to a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The move works.
    Yes,
    /// The move does not work.
    No,
    /// It sees no ladder there, or does not know.
    Nothing,
}

fn share(part: usize, whole: usize) -> f64 {
    if whole == 0 {
        f64::NAN
    } else {
        part as f64 / whole as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_answered_counts_against_coverage_and_recall_only() {
        let mut score = LadderScore::default();
        for (truth, answer) in [
            (true, Answer::Yes),
            (true, Answer::Nothing),
            (false, Answer::No),
            (false, Answer::Nothing),
        ] {
            score.add(truth, answer);
        }
        assert_eq!(score.coverage(), 0.5);
        assert_eq!(score.accuracy(), 1.0);
        assert_eq!(score.precision(), 1.0);
        assert_eq!(score.recall(), 0.5);
    }
}
