//! From bytes to text.
//!
//! Decoding comes before parsing: in Shift_JIS, GBK and Big5 the second byte of a character
//! can look like `]` or `\`.

use std::borrow::Cow;

use chardetng::EncodingDetector;
use encoding_rs::{Encoding, UTF_8, WINDOWS_1252};

/// A charset is named in the root of the first game, near the start of the file.
const CHARSET_WITHIN_BYTES: usize = 4096;

/// Properties that hold names and comments.
const TEXT_PROPERTIES: [&str; 7] = ["C[", "PB[", "PW[", "GN[", "EV[", "PC[", "GC["];
/// Fewer bytes beyond ASCII than this suggest no encoding.
const FEWEST_FOREIGN_BYTES: usize = 4;

/// A decoded text.
pub(super) struct Decoded<'a> {
    pub text: Cow<'a, str>,
    pub encoding: &'static str,
    /// Whether some bytes meant nothing in the encoding and were replaced.
    pub had_errors: bool,
}

/// Decodes by byte order mark, else by the file's own `CA`, else as UTF-8, else as what its names and
/// comments look like, which is Latin-1 (SGF's default) when nothing else fits better.
pub(super) fn decode(bytes: &[u8]) -> Decoded<'_> {
    if let Some((encoding, _)) = Encoding::for_bom(bytes) {
        return decode_as(encoding, bytes);
    }
    if let Some(encoding) = declared_encoding(bytes) {
        return decode_as(encoding, bytes);
    }
    match std::str::from_utf8(bytes) {
        Ok(_) => decode_as(UTF_8, bytes),
        Err(_) => decode_as(guessed_encoding(bytes), bytes),
    }
}

/// The encoding that the letters beyond ASCII suggest. Only values of text properties are looked at: moves would drown
/// the hint. A handful of letters suggests nothing.
fn guessed_encoding(bytes: &[u8]) -> &'static Encoding {
    let mut detector = EncodingDetector::new();
    let mut foreign = 0;
    for name in TEXT_PROPERTIES {
        let mut rest = bytes;
        while let Some(at) = rest
            .windows(name.len())
            .position(|window| window == name.as_bytes())
        {
            rest = &rest[at + name.len()..];
            let end = rest
                .iter()
                .position(|&byte| byte == b']')
                .unwrap_or(rest.len());
            detector.feed(&rest[..end], false);
            foreign += rest[..end].iter().filter(|byte| !byte.is_ascii()).count();
            rest = &rest[end..];
        }
    }
    if foreign < FEWEST_FOREIGN_BYTES {
        return WINDOWS_1252;
    }
    detector.feed(b"", true);
    detector.guess(None, false)
}

fn decode_as<'a>(encoding: &'static Encoding, bytes: &'a [u8]) -> Decoded<'a> {
    let (text, encoding, had_errors) = encoding.decode(bytes);
    Decoded {
        text,
        encoding: encoding.name(),
        had_errors,
    }
}

fn declared_encoding(bytes: &[u8]) -> Option<&'static Encoding> {
    let start = &bytes[..bytes.len().min(CHARSET_WITHIN_BYTES)];
    let name_at = start.windows(3).position(|window| window == b"CA[")?;
    let label = start[name_at + 3..].split(|&byte| byte == b']').next()?;
    Encoding::for_label(label)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bracket_inside_a_shift_jis_character_is_no_bracket() {
        // 0x83 0x5D is one katakana letter whose second byte is `]`.
        let decoded = decode(b"(;CA[Shift_JIS]C[\x83\x5d])");
        assert_eq!(decoded.text, "(;CA[Shift_JIS]C[ゾ])");
        assert!(!decoded.had_errors);
    }

    #[test]
    fn every_start_of_a_file_is_understood() {
        assert_eq!(decode(b"\xef\xbb\xbf(;C[\xc3\xa9])").text, "(;C[é])");
        assert_eq!(decode(b"\xff\xfe(\0;\0)\0").text, "(;)");
        assert_eq!(decode(b"(;C[\xc3\xa9])").text, "(;C[é])");
        assert_eq!(decode(b"(;C[\xe9])").text, "(;C[é])");
        assert_eq!(
            decode(b"(;CA[no such charset]C[\xe9])").text,
            "(;CA[no such charset]C[é])"
        );
    }

    #[test]
    fn names_without_a_charset_are_read_as_what_they_look_like() {
        let chinese = b"(;SZ[19]PB[\xb9\xc5\xc1\xa6]PW[\xbf\xc2\xbd\xe0]GN[\xca\xc0\xbd\xe7\xce\xa7\xc6\xe5\xbd\xf5\xb1\xea\xc8\xfc];B[pd])";
        assert!(
            decode(chinese).text.contains("PB[\u{53e4}\u{529b}]"),
            "{}",
            decode(chinese).text
        );
        assert_eq!(
            decode(b"(;PB[Andr\xe9]PW[Jos\xe9])").text,
            "(;PB[Andr\u{e9}]PW[Jos\u{e9}])"
        );
    }

    #[test]
    fn bytes_that_break_the_declared_charset_are_replaced_and_reported() {
        let decoded = decode(b"(;CA[UTF-8]PB[\xe9])");
        assert!(decoded.had_errors);
        assert_eq!(decoded.text, "(;CA[UTF-8]PB[\u{fffd}])");
    }
}
