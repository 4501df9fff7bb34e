//! Forms with files, as `curl -F` sends them.

use std::collections::HashMap;

/// A form with more parts is refused.
const MOST_PARTS: usize = 32;

/// The parts of a `multipart/form-data` body by name; a sentence if it is none.
pub(crate) fn parts<'a>(
    content_type: &str,
    body: &'a [u8],
) -> Result<HashMap<String, &'a [u8]>, String> {
    let boundary = content_type
        .split(';')
        .find_map(|part| part.trim().strip_prefix("boundary="))
        .ok_or("the upload is no form")?;
    let dashed = format!("--{}", boundary.trim_matches('"'));
    let separator = format!("\r\n{dashed}");
    let mut rest = body
        .strip_prefix(dashed.as_bytes())
        .ok_or("the form does not begin with its boundary")?;
    let mut parts = HashMap::new();
    while !rest.starts_with(b"--") {
        let start =
            find(rest, b"\r\n\r\n").ok_or("a part of the form has no end of its headers")?;
        let headers = String::from_utf8_lossy(&rest[..start]).into_owned();
        let name = headers
            .split(';')
            .find_map(|word| word.trim().strip_prefix("name=\"")?.split('"').next())
            .ok_or("a part of the form has no name")?
            .to_owned();
        let content = &rest[start + 4..];
        let end = find(content, separator.as_bytes()).ok_or("the form breaks off")?;
        parts.insert(name, &content[..end]);
        if parts.len() > MOST_PARTS {
            return Err(format!("the form has more than {MOST_PARTS} parts"));
        }
        rest = &content[end + separator.len()..];
    }
    Ok(parts)
}

fn find(bytes: &[u8], what: &[u8]) -> Option<usize> {
    bytes.windows(what.len()).position(|window| window == what)
}

#[cfg(test)]
mod tests {
    use super::*;

    const KIND: &str = "multipart/form-data; boundary=------------------------abc";

    #[test]
    fn fields_and_files_of_curl_are_found() {
        let boundary = "--------------------------abc";
        let body = format!(
            "{boundary}\r\nContent-Disposition: form-data; name=\"networkhash\"\r\n\r\n12ab\r\n{boundary}\r\n\
             Content-Disposition: form-data; name=\"sgf\"; filename=\"x.sgf.gz\"\r\n\
             Content-Type: application/octet-stream\r\n\r\n\u{1}\r\n--\u{2}\r\n{boundary}--\r\n"
        );
        let parts = parts(KIND, body.as_bytes()).unwrap();
        assert_eq!(parts["networkhash"], b"12ab");
        assert_eq!(parts["sgf"], b"\x01\r\n--\x02");
        assert_eq!(parts.len(), 2);
    }

    #[test]
    fn what_is_no_form_is_refused_and_never_a_panic() {
        for body in [
            "",
            "--",
            "x",
            "--------------------------abc",
            "--------------------------abc\r\nname\r\n\r\n",
        ] {
            assert!(parts(KIND, body.as_bytes()).is_err(), "{body}");
            assert!(parts("text/plain", body.as_bytes()).is_err());
        }
        let part = "--------------------------abc\r\nContent-Disposition: form-data; name=\"N\"\r\n\r\nv\r\n";
        let many: String = (0..10_000)
            .map(|number| part.replace('N', &number.to_string()))
            .collect();
        let why = parts(KIND, many.as_bytes()).unwrap_err();
        assert!(why.contains("more than 32"), "{why}");
    }
}
