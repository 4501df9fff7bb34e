//! One line of input: what GTP 2 says to drop, the id, the command, its arguments.

/// A command as it came over the wire.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// The id's digits, echoed as they came.
    pub id: Option<String>,
    /// The command in lower case.
    pub command: String,
    /// The arguments, their case kept: file names have one.
    pub arguments: Vec<String>,
}

impl Request {
    /// Reads a line. `None` if nothing is left of it: such lines get no answer.
    ///
    /// Control characters vanish, tabs are spaces, a `#` and what follows it is a comment, runs of
    /// spaces and spaces at either end mean nothing.
    pub fn parse(line: &str) -> Option<Request> {
        let text = line.split('#').next().unwrap_or_default();
        let cleaned: String = text
            .chars()
            .map(|c| if c == '\t' { ' ' } else { c })
            .filter(|c| !c.is_ascii_control())
            .collect();
        let mut words = cleaned.split(' ').filter(|word| !word.is_empty());
        let first = words.next()?;
        let is_id = first.bytes().all(|byte| byte.is_ascii_digit());
        let (id, command) = if is_id {
            (Some(first.to_owned()), words.next().unwrap_or_default())
        } else {
            (None, first)
        };
        Some(Request {
            id,
            command: command.to_ascii_lowercase(),
            arguments: words.map(str::to_owned).collect(),
        })
    }

    /// An argument in lower case, for colours, vertices and words.
    pub fn word(&self, index: usize) -> Option<String> {
        self.arguments
            .get(index)
            .map(|argument| argument.to_ascii_lowercase())
    }

    /// Everything after the command as one text: a file name may hold spaces.
    pub fn rest(&self, from: usize) -> Option<String> {
        let rest = self.arguments.get(from..).unwrap_or_default().join(" ");
        (!rest.is_empty()).then_some(rest)
    }
}

/// The answer to a request, ready to print.
///
/// No answer contains an empty line, for that is how it ends. A text that starts with a line break
/// keeps it: boards and lists begin below the sign.
pub fn frame(id: Option<&str>, answer: &Result<String, String>) -> String {
    let (sign, text) = match answer {
        Ok(text) => ('=', text),
        Err(text) => ('?', text),
    };
    let id = id.unwrap_or_default();
    let mut body = String::new();
    let starts_below = text.starts_with('\n');
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        if starts_below || !body.is_empty() {
            body.push('\n');
        }
        body.push_str(line.trim_end());
    }
    format!("{sign}{id} {body}\n\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(id: Option<&str>, command: &str, arguments: &[&str]) -> Option<Request> {
        Some(Request {
            id: id.map(str::to_owned),
            command: command.to_owned(),
            arguments: arguments.iter().map(|&word| word.to_owned()).collect(),
        })
    }

    #[test]
    fn lines_without_a_command_get_no_answer() {
        for line in ["", "  ", "\r", "# a comment", "\t# x", "\u{7}"] {
            assert_eq!(Request::parse(line), None, "{line:?}");
        }
    }

    #[test]
    fn noise_around_a_command_is_dropped() {
        let plain = request(None, "play", &["b", "D4"]);
        for line in [
            "play b D4",
            "  play b D4",
            "play\tb\tD4\r",
            "PLAY  b   D4  # why not",
            "pl\u{1}ay b D4\u{7f}",
        ] {
            assert_eq!(Request::parse(line), plain, "{line:?}");
        }
    }

    #[test]
    fn ids_are_numbers_of_any_length_and_are_kept_as_written() {
        assert_eq!(Request::parse("7 name"), request(Some("7"), "name", &[]));
        assert_eq!(
            Request::parse(" 007 name"),
            request(Some("007"), "name", &[])
        );
        let long = "123456789012345678901234567890";
        assert_eq!(
            Request::parse(&format!("{long} name")),
            request(Some(long), "name", &[])
        );
        assert_eq!(Request::parse("12"), request(Some("12"), "", &[]));
        assert_eq!(
            Request::parse("5play b d4"),
            request(None, "5play", &["b", "d4"])
        );
    }

    #[test]
    fn the_case_of_arguments_is_kept() {
        let parsed = Request::parse("PrintSGF /tmp/My Game.SGF").unwrap();
        assert_eq!(parsed.command, "printsgf");
        assert_eq!(parsed.rest(0).as_deref(), Some("/tmp/My Game.SGF"));
    }

    #[test]
    fn answers_end_with_their_only_empty_line() {
        assert_eq!(frame(None, &Ok(String::new())), "= \n\n");
        assert_eq!(frame(Some("3"), &Ok("D4".into())), "=3 D4\n\n");
        assert_eq!(
            frame(None, &Err("unknown command".into())),
            "? unknown command\n\n"
        );
        assert_eq!(frame(None, &Ok("a\n\nb \n\n".into())), "= a\nb\n\n");
        assert_eq!(frame(None, &Ok("\n\na\nb".into())), "= \na\nb\n\n");
        assert_eq!(frame(None, &Ok("\n".into())), "= \n\n");
    }
}
