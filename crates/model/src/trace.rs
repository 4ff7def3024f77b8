//! A task's ids in a distributed trace, the W3C `traceparent`, and sampling.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::task::id::text_form;

/// The variable with the span that a program works for. The program sets it to its own span for its children.
pub const TRACEPARENT_VARIABLE: &str = "TRACEPARENT";
/// Additional data of tracing systems; ignored without `TRACEPARENT`.
pub const TRACESTATE_VARIABLE: &str = "TRACESTATE";

/// A text that is not a valid id or `traceparent`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a {0}")]
pub struct TraceError(&'static str);

/// Defines an id of a number of bytes, written in lowercase hex and never all zero.
macro_rules! hex_id {
    ($(#[$doc:meta])* $name:ident, $bytes:literal, $what:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name([u8; $bytes]);

        impl $name {
            /// Creates an id from bytes. All zeros, which no id may be, become another value.
            #[must_use]
            pub fn from_random(mut bytes: [u8; $bytes]) -> Self {
                if bytes.iter().all(|byte| *byte == 0) {
                    bytes[$bytes - 1] = 1;
                }
                Self(bytes)
            }

            /// Returns the bytes.
            #[must_use]
            pub const fn as_bytes(&self) -> &[u8; $bytes] {
                &self.0
            }
        }

        impl FromStr for $name {
            type Err = TraceError;

            fn from_str(text: &str) -> Result<Self, TraceError> {
                let refused = TraceError($what);
                let mut bytes = [0; $bytes];
                if text.len() != 2 * $bytes {
                    return Err(refused);
                }
                for (byte, pair) in bytes.iter_mut().zip(text.as_bytes().chunks(2)) {
                    *byte = 16 * digit(pair[0]).ok_or(refused)? + digit(pair[1]).ok_or(refused)?;
                }
                if bytes == [0; $bytes] { Err(refused) } else { Ok(Self(bytes)) }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
            }
        }

        text_form!($name);
    };
}

hex_id! {
    /// The id of a trace.
    TraceId, 16, "trace id of 32 lowercase hex digits"
}

hex_id! {
    /// The id of a span.
    SpanId, 8, "span id of 16 lowercase hex digits"
}

/// Parses a hex digit. Capital letters are refused, as the specification requires.
const fn digit(character: u8) -> Option<u8> {
    match character {
        b'0'..=b'9' => Some(character - b'0'),
        b'a'..=b'f' => Some(character - b'a' + 10),
        _ => None,
    }
}

/// A span of another program, as in the W3C header `traceparent`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceParent {
    /// The trace.
    pub trace_id: TraceId,
    /// The span.
    pub span_id: SpanId,
    /// Whether its trace is recorded.
    pub sampled: bool,
}

impl FromStr for TraceParent {
    type Err = TraceError;

    /// Parses version 00, and the fields of version 00 in later versions, as the specification requires.
    fn from_str(text: &str) -> Result<Self, TraceError> {
        /// Length of a header of version 00.
        const LENGTH: usize = 55;
        let refused = TraceError("traceparent");
        let bytes = text.as_bytes();
        let byte = |at: usize| Some(16 * digit(*bytes.get(at)?)? + digit(*bytes.get(at + 1)?)?);
        let fits = match byte(0).ok_or(refused)? {
            0 => bytes.len() == LENGTH,
            0xff => false,
            _ => bytes.len() == LENGTH || bytes.get(LENGTH) == Some(&b'-'),
        };
        let dashes = [2, 35, 52].iter().all(|at| bytes.get(*at) == Some(&b'-'));
        if !fits || !dashes {
            return Err(refused);
        }
        let part = |from: usize, to: usize| text.get(from..to).ok_or(refused);
        Ok(Self {
            trace_id: part(3, 35)?.parse()?,
            span_id: part(36, 52)?.parse()?,
            sampled: byte(53).ok_or(refused)? & 1 == 1,
        })
    }
}

impl fmt::Display for TraceParent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "00-{}-{}-{:02x}", self.trace_id, self.span_id, u8::from(self.sampled))
    }
}

/// A task's ids in a trace. They are chosen when the task is requested and stored in its spec.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskTrace {
    /// The trace: that of the caller, or a new one.
    pub trace_id: TraceId,
    /// The span of the caller.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<SpanId>,
    /// The span from the request to the first process.
    pub start_span: SpanId,
    /// The span of the first run; see [`TaskTrace::execute_span`].
    pub execute_span: SpanId,
    /// Whether the trace is sampled.
    #[serde(default)]
    pub sampled: bool,
    /// Whether the starter wants its spans to be exported.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub export: bool,
}

impl TaskTrace {
    /// Chooses the ids of a task from random bytes.
    #[must_use]
    pub fn new(random: [u8; 32], host: Option<TraceParent>, sampler: Sampler) -> Self {
        let mut own = [0; 16];
        let (mut start, mut execute) = ([0; 8], [0; 8]);
        own.copy_from_slice(&random[..16]);
        start.copy_from_slice(&random[16..24]);
        execute.copy_from_slice(&random[24..]);
        let trace_id = host.map_or_else(|| TraceId::from_random(own), |host| host.trace_id);
        Self {
            trace_id,
            parent: host.map(|host| host.span_id),
            start_span: SpanId::from_random(start),
            execute_span: SpanId::from_random(execute),
            sampled: sampler.decides(trace_id, host.map(|host| host.sampled)),
            export: false,
        }
    }

    /// Returns the span of a run. The spans of later runs are derived from the first, so that the spec is enough to
    /// know them.
    #[must_use]
    pub fn execute_span(&self, run: u32) -> SpanId {
        if run <= 1 {
            return self.execute_span;
        }
        // The output function of SplitMix64: a difference of one bit changes about half of the bits.
        let mut mixed = u64::from_be_bytes(*self.execute_span.as_bytes())
            .wrapping_add(u64::from(run).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        SpanId::from_random((mixed ^ (mixed >> 31)).to_be_bytes())
    }

    /// Returns the `traceparent` for the command of a run.
    #[must_use]
    pub fn for_command(&self, run: u32) -> TraceParent {
        TraceParent { trace_id: self.trace_id, span_id: self.execute_span(run), sampled: self.sampled }
    }

    /// Returns whether its spans should be exported.
    #[must_use]
    pub const fn is_exported(&self) -> bool {
        self.sampled && self.export
    }
}

/// Decides whether a trace is sampled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sampler {
    /// The same decision for every trace.
    Own(Share),
    /// The decision of the caller, if there is one.
    ParentOr(Share),
}

/// Which traces are sampled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Share {
    /// All traces.
    All,
    /// No trace.
    None,
    /// Traces whose id, as a number of 63 bits, is below this value.
    Below(u64),
}

impl Default for Sampler {
    fn default() -> Self {
        Self::ParentOr(Share::All)
    }
}

impl Sampler {
    /// Parses `OTEL_TRACES_SAMPLER` and `OTEL_TRACES_SAMPLER_ARG`; unknown values mean the default.
    #[must_use]
    pub fn from_words(name: &str, argument: Option<&str>) -> Self {
        let ratio = || {
            let given = argument.and_then(|text| text.trim().parse::<f64>().ok());
            let share = given.filter(|share| (0.0..=1.0).contains(share)).unwrap_or(1.0);
            Share::Below((share * (1_u64 << 63) as f64) as u64)
        };
        match name.trim() {
            "always_on" => Self::Own(Share::All),
            "always_off" => Self::Own(Share::None),
            "traceidratio" => Self::Own(ratio()),
            "parentbased_always_off" => Self::ParentOr(Share::None),
            "parentbased_traceidratio" => Self::ParentOr(ratio()),
            _ => Self::default(),
        }
    }

    /// Returns whether a trace is sampled.
    #[must_use]
    pub fn decides(self, trace: TraceId, parent: Option<bool>) -> bool {
        match (self, parent) {
            (Self::ParentOr(_), Some(sampled)) => sampled,
            (Self::Own(share) | Self::ParentOr(share), _) => share.holds(trace),
        }
    }
}

impl Share {
    fn holds(self, trace: TraceId) -> bool {
        match self {
            Self::All => true,
            Self::None => false,
            Self::Below(limit) => {
                let mut low = [0; 8];
                low.copy_from_slice(&trace.as_bytes()[8..]);
                u64::from_be_bytes(low) >> 1 < limit
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const GOOD: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

    #[test]
    fn a_traceparent_header_is_parsed_and_formatted() {
        let found: TraceParent = GOOD.parse().unwrap();
        assert_eq!(found.trace_id.to_string(), "4bf92f3577b34da6a3ce929d0e0e4736");
        assert_eq!(found.span_id.to_string(), "00f067aa0ba902b7");
        assert!(found.sampled);
        assert_eq!(found.to_string(), GOOD);
        assert!(!GOOD.replace("-01", "-00").parse::<TraceParent>().unwrap().sampled);
        assert!(GOOD.replace("-01", "-ff").parse::<TraceParent>().unwrap().sampled);
    }

    #[test]
    fn fields_added_by_a_later_traceparent_version_are_ignored() {
        let later = GOOD.replacen("00", "cc", 1);
        assert_eq!(later.parse::<TraceParent>(), GOOD.parse());
        assert_eq!(format!("{later}-new-field").parse::<TraceParent>(), GOOD.parse());
        assert!(format!("{later}.new-field").parse::<TraceParent>().is_err());
    }

    #[test]
    fn malformed_traceparents_are_refused() {
        let bad = [
            String::new(),
            "00".to_owned(),
            GOOD.replacen("00", "ff", 1),
            GOOD.to_uppercase(),
            GOOD.replace("4bf9", "4BF9"),
            GOOD.replace("4bf9", "4bg9"),
            GOOD.replacen("00-", "00_", 1),
            format!("{GOOD}-"),
            format!("{GOOD} "),
            format!(" {GOOD}"),
            GOOD[..54].to_owned(),
            format!("00-{}-00f067aa0ba902b7-01", "0".repeat(32)),
            format!("00-4bf92f3577b34da6a3ce929d0e0e4736-{}-01", "0".repeat(16)),
            "00-4bf92f3577b34da6a3ce929d0e0e473é-00f067aa0ba902b7-1".to_owned(),
        ];
        for text in bad {
            assert!(text.parse::<TraceParent>().is_err(), "{text:?}");
        }
    }

    #[test]
    fn every_run_has_a_distinct_span() {
        let random = std::array::from_fn(|at| at as u8);
        let trace = TaskTrace::new(random, None, Sampler::default());
        assert_eq!(trace.execute_span(1), trace.execute_span);
        let spans: std::collections::BTreeSet<_> = (1..=1000).map(|run| trace.execute_span(run)).collect();
        assert_eq!(spans.len(), 1000);
        assert!(!spans.contains(&trace.start_span));
    }

    #[test]
    fn a_trace_survives_json_and_an_id_is_never_zero() {
        let trace = TaskTrace::new([0; 32], GOOD.parse().ok(), Sampler::default());
        let text = serde_json::to_string(&trace).unwrap();
        assert_eq!(serde_json::from_str::<TaskTrace>(&text).unwrap(), trace);
        assert_eq!(trace.start_span.to_string(), "0000000000000001");
        assert!(serde_json::from_str::<SpanId>(r#""0000000000000000""#).is_err());
    }

    #[test]
    fn samplers_follow_their_name_argument_and_parent() {
        let (low, high) = (TraceId::from_random([1; 16]), TraceId::from_random([0xf0; 16]));
        let table = [
            ("always_on", None, Some(false), low, true),
            ("always_off", None, Some(true), low, false),
            ("parentbased_always_on", None, Some(false), low, false),
            ("parentbased_always_on", None, None, low, true),
            ("parentbased_always_off", None, None, low, false),
            ("parentbased_always_off", None, Some(true), low, true),
            ("traceidratio", Some("0.5"), None, low, true),
            ("traceidratio", Some("0.5"), None, high, false),
            ("traceidratio", Some("1"), None, high, true),
            ("traceidratio", Some("0"), None, low, false),
            ("traceidratio", Some("many"), None, high, true),
            ("parentbased_traceidratio", Some("0"), Some(true), high, true),
            ("", None, None, high, true),
            ("jaeger_remote", None, Some(false), high, false),
        ];
        for (name, argument, parent, trace, expected) in table {
            let sampler = Sampler::from_words(name, argument);
            assert_eq!(sampler.decides(trace, parent), expected, "{name} {argument:?} {parent:?}");
        }
    }

    proptest! {
        #[test]
        fn any_traceparent_survives_formatting_and_parsing(trace: [u8; 16], span: [u8; 8], sampled: bool) {
            let parent = TraceParent {
                trace_id: TraceId::from_random(trace),
                span_id: SpanId::from_random(span),
                sampled,
            };
            prop_assert_eq!(parent.to_string().parse::<TraceParent>(), Ok(parent));
        }

        #[test]
        fn parsing_any_text_as_a_traceparent_does_not_panic(text in "\\PC{0,80}") {
            if let Ok(parent) = text.parse::<TraceParent>() {
                prop_assert!(text[2..].starts_with(&parent.to_string()[2..53]));
            }
        }

        #[test]
        fn a_single_invalid_character_is_refused(at in 0_usize..55, wrong in "[g-zG-Z_ .]") {
            let mut text = GOOD.to_owned();
            text.replace_range(at..=at, &wrong);
            prop_assert!(text.parse::<TraceParent>().is_err(), "{}", text);
        }
    }
}
