//! What tests of networks found, remembered from one start of the program to the next.
//!
//! A network is known by its answers to a few inputs, so the same weights in another file format are
//! the same network. The memory is a text file with a line a network: its name, and the two scores.
//! It is a cache: a line that cannot be read, or a file that cannot be written, costs a test.

use std::{env, fmt::Write as _, fs, path::Path, path::PathBuf};

use super::Scores;

/// Where the memory is kept, below the user's folder for caches.
const FILE: &str = "tengen/komi-verdicts.txt";
/// FNV-1a, 64 bits: offset and prime.
const FNV_OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
const FNV_PRIME: u64 = 0x0000_0100_0000_01b3;

/// The name of a network, from its answers.
pub fn fingerprint(answers: impl Iterator<Item = f32>) -> u64 {
    let bytes = answers.flat_map(|answer| answer.to_bits().to_le_bytes());
    bytes.fold(FNV_OFFSET, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(FNV_PRIME)
    })
}

/// The usual place of the memory: `$XDG_CACHE_HOME/tengen`, or `~/.cache/tengen`.
pub fn default_file() -> Option<PathBuf> {
    let set = |name| env::var_os(name).filter(|value| !value.is_empty());
    let caches = set("XDG_CACHE_HOME")
        .map(PathBuf::from)
        .or_else(|| Some(Path::new(&set("HOME")?).join(".cache")));
    caches.map(|folder| folder.join(FILE))
}

/// What is remembered of a network.
pub fn recall(file: &Path, fingerprint: u64) -> Option<Scores> {
    let text = fs::read_to_string(file).ok()?;
    let (_, scores) = text
        .lines()
        .rev()
        .filter_map(parse)
        .find(|&(name, _)| name == fingerprint)?;
    Some(scores)
}

/// Remembers what a test found. False if that is not possible: the next start tests again.
pub fn remember(file: &Path, fingerprint: u64, scores: Scores) -> bool {
    if let Some(folder) = file.parent()
        && fs::create_dir_all(folder).is_err()
    {
        return false;
    }
    let mut text = fs::read_to_string(file).unwrap_or_default();
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    let Scores { negative, positive } = scores;
    let _ = writeln!(text, "{fingerprint:016x} {negative:e} {positive:e}");
    base::write_whole(file, text.as_bytes()).is_ok()
}

fn parse(line: &str) -> Option<(u64, Scores)> {
    let mut words = line.split_whitespace();
    let fingerprint = u64::from_str_radix(words.next()?, 16).ok()?;
    let mut score = || {
        let score: f64 = words.next()?.parse().ok()?;
        (score >= 0.0).then_some(score)
    };
    let scores = Scores {
        negative: score()?,
        positive: score()?,
    };
    words.next().is_none().then_some((fingerprint, scores))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn one_bit_makes_another_network() {
        let answers = [0.25f32, 0.5, 0.75];
        let other = [0.25f32, f32::from_bits(0.5f32.to_bits() + 1), 0.75];
        assert_ne!(
            fingerprint(answers.into_iter()),
            fingerprint(other.into_iter())
        );
    }

    #[test]
    fn what_cannot_be_read_is_not_remembered() {
        for line in [
            "", "xyz 0 0", "12 0", "12 0 0 0", "12 a 0", "12 -1 0", "12 nan 0",
        ] {
            assert_eq!(parse(line), None, "{line:?}");
        }
    }

    #[test]
    fn a_file_remembers_many_networks_and_the_latest_word_on_each() {
        let name = format!("tengen-verdicts-{}", std::process::id());
        let folder = env::temp_dir().join(name);
        let file = folder.join("deep/verdicts.txt");
        let scores = |negative, positive| Scores { negative, positive };
        assert_eq!(recall(&file, 1), None);
        assert!(remember(&file, 1, scores(0.5, 0.01)));
        assert!(remember(&file, 2, scores(0.0, 1e-7)));
        assert!(remember(&file, 1, scores(0.25, 0.02)));
        assert_eq!(recall(&file, 1), Some(scores(0.25, 0.02)));
        assert_eq!(recall(&file, 2), Some(scores(0.0, 1e-7)));
        assert_eq!(recall(&file, 3), None);
        fs::remove_dir_all(folder).unwrap();
    }

    proptest! {
        #[test]
        fn scores_survive_the_file_exactly(negative in 0.0..2.0f64, positive in 0.0..2.0f64, name: u64) {
            let line = format!("{name:016x} {negative:e} {positive:e}");
            prop_assert_eq!(parse(&line), Some((name, Scores { negative, positive })));
        }
    }
}
