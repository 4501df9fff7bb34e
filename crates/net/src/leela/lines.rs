//! The lines of a text that lies in memory or in a file.
//!
//! A network of 20 blocks is a quarter of a gigabyte of text. Fresh memory for it would cost more than reading the
//! numbers: so a file is read twice instead, once for the ends of its lines and once for the numbers, by all cores, a
//! stretch at a time that stays in the second-level cache.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::Path;

use rayon::prelude::*;

/// Bytes of a file that are read at a time.
const STRETCH: usize = 256 << 10;
/// Bytes that are asked at once whether a line ends among them: most lines are longer, and to know that there is no
/// end is much faster than to look for one.
const GLANCE: usize = 4 << 10;

#[derive(Clone, Copy)]
pub(crate) enum Text<'a> {
    Memory(&'a [u8]),
    File { file: &'a Path, len: usize },
}

impl Text<'_> {
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Memory(text) => text.len(),
            Self::File { len, .. } => *len,
        }
    }

    /// The places of all lines, without their ends.
    pub(super) fn lines(&self) -> io::Result<Vec<Range<usize>>> {
        if self.len() == 0 {
            return Ok(Vec::new());
        }
        let stretches = (0..self.len()).into_par_iter().step_by(STRETCH);
        let ends = stretches.map_init(Vec::new, |buffer, start| {
            let stretch = self.read(start..(start + STRETCH).min(self.len()), buffer)?;
            Ok(ends_of_lines(start, stretch))
        });
        let mut ends = ends.collect::<io::Result<Vec<Vec<usize>>>>()?.concat();
        if ends.last() != Some(&(self.len() - 1)) {
            ends.push(self.len());
        }
        let starts = std::iter::once(0).chain(ends.iter().map(|end| end + 1));
        Ok(starts.zip(&ends).map(|(start, &end)| start..end).collect())
    }

    /// A part of it; the buffer is for what is not in memory.
    pub(super) fn read<'b>(
        &'b self,
        part: Range<usize>,
        buffer: &'b mut Vec<u8>,
    ) -> io::Result<&'b [u8]> {
        match self {
            Self::Memory(text) => Ok(&text[part]),
            Self::File { file, .. } => {
                let mut open = File::open(file)?;
                open.seek(SeekFrom::Start(part.start as u64))?;
                buffer.resize(part.len(), 0);
                open.read_exact(buffer)?;
                Ok(buffer)
            }
        }
    }

    /// Calls `take` with the part, cut between words where it is too long to be read at once, until it says no.
    pub(super) fn words(
        &self,
        part: Range<usize>,
        mut take: impl FnMut(&[u8]) -> bool,
    ) -> io::Result<()> {
        let at_once = match self {
            Self::Memory(_) => part.len(),
            Self::File { .. } => STRETCH,
        };
        let mut buffer = Vec::new();
        let mut start = part.start;
        while start < part.end {
            let end = (start + at_once).min(part.end);
            let stretch = self.read(start..end, &mut buffer)?;
            // A word that is cut in two is read again with what follows it.
            let cut = stretch.iter().rposition(u8::is_ascii_whitespace);
            let whole = match cut {
                Some(cut) if end < part.end => cut + 1,
                _ => stretch.len(),
            };
            if !take(&stretch[..whole]) {
                break;
            }
            start += whole;
        }
        Ok(())
    }
}

fn ends_of_lines(start: usize, stretch: &[u8]) -> Vec<usize> {
    let mut ends = Vec::new();
    for (glance, bytes) in stretch.chunks(GLANCE).enumerate() {
        if bytes.contains(&b'\n') {
            let found = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
            ends.extend(found.map(|(at, _)| start + glance * GLANCE + at));
        }
    }
    ends
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn lines_are_those_of_the_standard_library(text in "[ab \n]{0,60}", far in 0usize..3) {
            // Some lines are longer than a stretch.
            let text = text.replace('b', &"b".repeat(1 + far * STRETCH / 2));
            let folder = tempfile::tempdir().unwrap();
            let file = folder.path().join("text");
            std::fs::write(&file, &text).unwrap();
            let expected: Vec<&str> = match text.strip_suffix('\n').unwrap_or(&text) {
                _ if text.is_empty() => Vec::new(),
                text => text.split('\n').collect(),
            };
            let in_file = Text::File { file: &file, len: text.len() };
            for source in [Text::Memory(text.as_bytes()), in_file] {
                let lines = source.lines().unwrap();
                let found: Vec<&str> = lines.iter().map(|line| &text[line.clone()]).collect();
                prop_assert_eq!(&found, &expected);
            }
        }
    }

    #[test]
    fn no_word_is_cut_and_none_is_lost() {
        let text: String = (0..200_000).map(|number| format!("{number} ")).collect();
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("text");
        std::fs::write(&file, &text).unwrap();
        let source = Text::File {
            file: &file,
            len: text.len(),
        };
        let (mut words, mut calls) = (Vec::new(), 0);
        let all = source.words(3..text.len() - 2, |part| {
            calls += 1;
            let part = std::str::from_utf8(part).unwrap();
            words.extend(part.split_whitespace().map(str::to_owned));
            true
        });
        all.unwrap();
        assert!(calls > 2);
        let expected: Vec<&str> = text[3..text.len() - 2].split_whitespace().collect();
        assert_eq!(words, expected);
    }
}
