//! What `follow.sh` sends: a line for each part of the output, followed by its bytes, and a line for the end.

use std::io::{self, BufRead, Read};

use mw_model::Exit;

use mw_model::Stream;

/// The longest line and the largest part that are accepted.
const MAX_LINE: u64 = 4096;
const MAX_PART: usize = 1 << 20;

/// Something that the far side has sent.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Frame {
    /// A part of the output.
    Data(Stream, Vec<u8>),
    /// The command has ended.
    Ended(FarEnd),
    /// Nothing is known about the end, and never will be.
    Gone(String),
    /// The connection lives.
    Beat,
}

/// How the command ended, as the far side knows it.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum FarEnd {
    /// The wait status of the system, or why there is none.
    Exact(Exit),
    /// The status of a shell, where a signal looks like a code above 128.
    ShellCode(i32),
}

/// Reads the next frame. An end of the connection is an error.
pub(super) fn read_frame(from: &mut impl BufRead) -> io::Result<Frame> {
    let line = read_line(from)?;
    let (word, rest) = line.split_once(' ').unwrap_or((&line, ""));
    let data = |stream| {
        let len: usize = rest.parse().map_err(|_| odd(&line))?;
        if len > MAX_PART {
            return Err(odd(&line));
        }
        Ok((stream, len))
    };
    let (stream, len) = match word {
        "." => return Ok(Frame::Beat),
        "X" => return end_of(rest).map(Frame::Ended).ok_or_else(|| odd(&line)),
        "G" => return Ok(Frame::Gone(rest.to_owned())),
        "O" => data(Stream::Stdout)?,
        "E" => data(Stream::Stderr)?,
        _ => return Err(odd(&line)),
    };
    let mut bytes = vec![0; len];
    from.read_exact(&mut bytes)?;
    Ok(Frame::Data(stream, bytes))
}

/// Reads a line, without its end.
pub(super) fn read_line(from: &mut impl BufRead) -> io::Result<String> {
    let mut line = Vec::new();
    from.take(MAX_LINE).read_until(b'\n', &mut line)?;
    if line.pop() != Some(b'\n') {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(String::from_utf8_lossy(&line).into_owned())
}

fn odd(line: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("the far side sent {line:?}"))
}

/// Interprets a status as `keep.sh` writes it.
fn end_of(status: &str) -> Option<FarEnd> {
    let (word, number) = status.split_once(' ')?;
    let number: i32 = number.trim().parse().ok()?;
    Some(FarEnd::Exact(match word {
        "wait" if number & 0x7f == 0 => Exit::Code((number >> 8) & 0xff),
        "wait" => Exit::Signal { number: number & 0x7f, core: number & 0x80 != 0 },
        // Without perl.
        "code" => return Some(FarEnd::ShellCode(number)),
        "fenced" => {
            Exit::Unknown("a later run of the task was started there and has ended this one".to_owned())
        }
        _ => return None,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_and_ends_are_read() {
        let mut sent: &[u8] = b".\nO 3\na\nbE 1\nxX wait 1792\n";
        let mut next = || read_frame(&mut sent).unwrap();
        assert_eq!(next(), Frame::Beat);
        assert_eq!(next(), Frame::Data(Stream::Stdout, b"a\nb".to_vec()));
        assert_eq!(next(), Frame::Data(Stream::Stderr, b"x".to_vec()));
        assert_eq!(next(), Frame::Ended(FarEnd::Exact(Exit::Code(7))));
        assert!(read_frame(&mut sent).is_err(), "the end of the connection says nothing about the task");
    }

    #[test]
    fn a_signal_is_told_from_an_exit_code_above_128() {
        let exact = |exit| Some(FarEnd::Exact(exit));
        assert_eq!(end_of("wait 9"), exact(Exit::Signal { number: 9, core: false }));
        assert_eq!(end_of("wait 139"), exact(Exit::Signal { number: 11, core: true }));
        assert_eq!(end_of("wait 35072"), exact(Exit::Code(137)));
        assert_eq!(end_of("code 137"), Some(FarEnd::ShellCode(137)));
        assert!(matches!(end_of("fenced 9"), Some(FarEnd::Exact(Exit::Unknown(_)))));
        assert_eq!(end_of("wait"), None);
    }

    #[test]
    fn odd_input_is_an_error() {
        for sent in ["O 99999999999\n", "O x\n", "hello\n", "X what 1\n", "O 5\nab", "no end of line"] {
            assert!(read_frame(&mut sent.as_bytes()).is_err(), "{sent:?}");
        }
    }
}
