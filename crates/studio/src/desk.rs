//! All documents: opened, saved, forgotten.

use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
    time::SystemTime,
};

use base::write_whole;
use go::sgf;

use crate::{document::Document, wire::Failure};

/// Games and problems kept; the ones that were not looked at for longest go.
const MOST_DOCUMENTS: usize = 50;
const MOST_PROBLEMS: usize = 500;
/// Games taken from one file.
const MOST_GAMES: usize = 500;
const ID_LETTERS: &[u8] = b"abcdefghijkmnpqrstuvwxyz23456789";
const ID_LENGTH: usize = 8;

/// The documents of this user.
pub struct Desk {
    folder: PathBuf,
    documents: BTreeMap<String, Document>,
    /// Ids, the one used last at the end.
    used: Vec<String>,
}

impl Desk {
    /// Opens what was saved; a file that is damaged is left alone.
    pub fn open(folder: &Path) -> io::Result<Desk> {
        fs::create_dir_all(folder)?;
        let mut files: Vec<(SystemTime, PathBuf)> = fs::read_dir(folder)?
            .filter_map(|entry| {
                let entry = entry.ok()?;
                let modified = entry.metadata().ok()?.modified().ok()?;
                Some((modified, entry.path()))
            })
            .filter(|(_, path)| path.extension().is_some_and(|ending| ending == "sgf"))
            .collect();
        files.sort();
        let mut desk = Desk {
            folder: folder.to_owned(),
            documents: BTreeMap::new(),
            used: Vec::new(),
        };
        let newest = files.len().saturating_sub(MOST_DOCUMENTS + MOST_PROBLEMS);
        for (_, path) in files.drain(newest..) {
            let Some(id) = path
                .file_stem()
                .and_then(|stem| stem.to_str())
                .filter(|id| is_id(id))
            else {
                continue;
            };
            let Ok(bytes) = fs::read(&path) else { continue };
            let Some(tree) = sgf::read(&bytes)
                .ok()
                .and_then(|read| read.games.into_iter().next())
            else {
                continue;
            };
            let mut document = Document::new(id.to_owned(), tree);
            if document.game().is_err() {
                continue;
            }
            document.is_dirty = false;
            desk.add(document);
        }
        Ok(desk)
    }

    pub fn new_id(&self) -> String {
        (0..ID_LENGTH)
            .map(|_| {
                let letter = rand::random::<u8>() as usize % ID_LETTERS.len();
                char::from(ID_LETTERS[letter])
            })
            .collect()
    }

    /// Keeps a document. The one that was not used for longest makes room.
    pub fn add(&mut self, document: Document) -> String {
        let id = document.id.clone();
        self.documents.insert(id.clone(), document);
        self.used.push(id.clone());
        for (is_problem, most) in [(false, MOST_DOCUMENTS), (true, MOST_PROBLEMS)] {
            let of_kind = |document: &&Document| document.table.problem.is_some() == is_problem;
            if self.documents.values().filter(of_kind).count() > most {
                let oldest = self
                    .used
                    .iter()
                    .filter_map(|id| self.documents.get(id))
                    .find(of_kind);
                if let Some(oldest) = oldest.map(|document| document.id.clone()) {
                    self.forget(&oldest);
                }
            }
        }
        id
    }

    /// Reads a file of games into documents, one a game.
    pub fn read(&mut self, bytes: &[u8]) -> Result<Vec<String>, Failure> {
        let collection = sgf::read(bytes).map_err(|error| match error.problem {
            sgf::Problem::NoGame => Failure::new("no-game", "there is no game in this file"),
            _ => Failure::new("record", error.to_string()),
        })?;
        let mut documents = Vec::new();
        for tree in collection.games.into_iter().take(MOST_GAMES) {
            let mut document = Document::new(self.new_id(), tree);
            // A record that cannot be replayed to its end is refused before anything is kept.
            for node in document.tree.main_line() {
                document
                    .tree
                    .moves(node)
                    .map_err(crate::document::damaged)?;
            }
            document.game().map_err(crate::document::damaged)?;
            if collection.had_encoding_errors {
                let note = format!(
                    "some letters mean nothing in {} and were replaced",
                    collection.encoding
                );
                document.notes.push(note);
            }
            crate::problem::read_marks(&mut document);
            documents.push(document);
        }
        crate::problem::read_book(&mut documents);
        // A collection larger than the desk keeps its first games.
        if documents
            .iter()
            .any(|document| document.table.problem.is_none())
        {
            documents.truncate(MOST_DOCUMENTS - 1);
        }
        Ok(documents
            .into_iter()
            .map(|document| self.add(document))
            .collect())
    }

    /// A document, which counts as used now.
    pub fn get(&mut self, id: &str) -> Result<&mut Document, Failure> {
        if let Some(at) = self.used.iter().position(|used| used == id) {
            let id = self.used.remove(at);
            self.used.push(id);
        }
        self.documents
            .get_mut(id)
            .ok_or_else(|| Failure::new("document", "this document is no longer there"))
    }

    /// A document as it is.
    pub fn peek(&self, id: &str) -> Option<&Document> {
        self.documents.get(id)
    }

    /// The documents, the one used last first.
    pub fn recent(&self) -> impl Iterator<Item = &Document> {
        self.used
            .iter()
            .rev()
            .filter_map(|id| self.documents.get(id))
    }

    /// Forgets a document and its file.
    pub fn forget(&mut self, id: &str) {
        if self.documents.remove(id).is_some() {
            self.used.retain(|used| used != id);
            let _ = fs::remove_file(self.file(id));
        }
    }

    /// What must be written: files and their contents. The documents count as saved.
    pub fn take_unsaved(&mut self) -> Vec<(PathBuf, String)> {
        let dirty = self
            .documents
            .values_mut()
            .filter(|document| document.is_dirty);
        let mut files = Vec::new();
        for document in dirty {
            document.is_dirty = false;
            files.push((
                self.folder.join(format!("{}.sgf", document.id)),
                document.to_saved(),
            ));
        }
        files
    }

    /// Writes what changed.
    pub fn save(&mut self) {
        for (file, text) in self.take_unsaved() {
            let _ = write_whole(&file, text.as_bytes());
        }
    }

    fn file(&self, id: &str) -> PathBuf {
        self.folder.join(format!("{id}.sgf"))
    }
}

/// Whether a text has the form of an id: no path, no dot.
pub fn is_id(text: &str) -> bool {
    (6..=24).contains(&text.len())
        && text
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_survive_a_restart_and_damaged_files_do_not_matter() {
        let folder = tempfile::tempdir().unwrap();
        let mut desk = Desk::open(folder.path()).unwrap();
        let ids = desk
            .read(b"(;SZ[9];B[ee])(;SZ[5]PB[a]PW[b];B[aa])")
            .unwrap();
        assert_eq!(ids.len(), 2);
        desk.save();
        fs::write(folder.path().join("damagedx.sgf"), "(;SZ[9").unwrap();
        let mut again = Desk::open(folder.path()).unwrap();
        assert_eq!(again.get(&ids[1]).unwrap().title(), "a – b");
        assert_eq!(again.recent().count(), 2);
    }

    #[test]
    fn the_fifty_newest_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let mut desk = Desk::open(folder.path()).unwrap();
        let first = desk.read(b"(;SZ[9])").unwrap().remove(0);
        desk.save();
        for _ in 0..MOST_DOCUMENTS {
            desk.read(b"(;SZ[9])").unwrap();
        }
        assert!(desk.get(&first).is_err());
        assert!(!folder.path().join(format!("{first}.sgf")).exists());
    }

    #[test]
    fn a_damaged_file_is_refused_with_its_place() {
        let folder = tempfile::tempdir().unwrap();
        let mut desk = Desk::open(folder.path()).unwrap();
        let failure = desk.read(b"(;SZ[9];B[ee];W[zz])").unwrap_err();
        assert!(failure.say.contains("node 3, property W"), "{failure}");
        assert_eq!(desk.read(b"\x89PNG\r\n").unwrap_err().code, "no-game");
        assert_eq!(desk.recent().count(), 0);
    }
}
