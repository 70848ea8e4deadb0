//! What one resume led to, for whoever looks for the reason.

use signaltty_core::agent::{RecordRead, Verdict, Witness, WitnessSource};

/// A verdict and the evidence that it came from.
pub(super) struct Played {
    pub(super) verdict: Verdict,
    pub(super) witnesses: Vec<Witness>,
}

impl Played {
    /// What is required and was not seen, and what was.
    pub(super) fn seen(&self, required: &[WitnessSource]) -> String {
        let shown = |source| self.witnesses.iter().any(|witness| witness.source == source);
        let absent = required.iter().filter(|source| !shown(**source));
        let absent = absent.map(|source| format!("{source} is required and was not seen"));
        absent.chain(self.witnesses.iter().map(in_words)).collect::<Vec<_>>().join("; ")
    }
}

fn in_words(witness: &Witness) -> String {
    let Witness { source, detail, .. } = witness;
    let loaded = match witness.loaded {
        Some(count) => format!("{count} loaded"),
        None => "nothing said of what it loaded".to_owned(),
    };
    let record = match &witness.record {
        RecordRead::Pending => "no record read".to_owned(),
        RecordRead::Done { named, result: Ok(_) } => format!("the record of {named} is sound"),
        RecordRead::Done { named, result: Err(why) } => format!("the record of {named}: {why}"),
    };
    format!("{source} was seen ({detail}; {loaded}; {record})")
}
