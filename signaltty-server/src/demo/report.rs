//! What the story says: a line per step as it happens, or one JSON object.

use std::path::Path;
use std::time::Instant;

use serde::Serialize;

use crate::cli::{Context, Failure, safe};

/// What the story says.
#[derive(Debug)]
pub(super) struct Report<'a> {
    context: &'a Context,
    summary: Summary,
    started: Instant,
    step_started: Instant,
    marks: Marks,
}

#[derive(Debug, Serialize)]
struct Summary {
    ok: bool,
    dir: String,
    kept: bool,
    ms: u128,
    steps: Vec<Step>,
}

#[derive(Debug, Serialize)]
struct Step {
    step: String,
    ok: bool,
    observed: String,
    ms: u128,
}

#[derive(Debug, Clone, Copy)]
struct Marks {
    held: &'static str,
    failed: &'static str,
}

impl<'a> Report<'a> {
    pub(super) fn new(context: &'a Context, dir: &Path) -> Result<Self, Failure> {
        let now = Instant::now();
        let report = Self {
            context,
            summary: Summary {
                ok: false,
                dir: dir.to_string_lossy().into_owned(),
                kept: false,
                ms: 0,
                steps: Vec::new(),
            },
            started: now,
            step_started: now,
            marks: marks(|name| std::env::var(name).ok()),
        };
        let dir = safe(&report.summary.dir);
        report.line(&format!(
            "A conversation survives a killed server, and impostors do not get its place.\n\
             Everything happens in {dir}\n"
        ))?;
        Ok(report)
    }

    /// Says how a step came out. Whether it held.
    pub(super) fn step(
        &mut self,
        step: &str,
        observed: Result<String, impl ToString>,
    ) -> Result<bool, Failure> {
        let ok = observed.is_ok();
        let observed = observed.unwrap_or_else(|error| error.to_string());
        let mark = if ok { self.marks.held } else { self.marks.failed };
        let indented = observed.lines().map(safe).collect::<Vec<_>>();
        self.line(&format!("{mark} {step}\n    {}", indented.join("\n    ")))?;
        let now = Instant::now();
        self.summary.steps.push(Step {
            step: step.to_owned(),
            ok,
            observed,
            ms: (now - self.step_started).as_millis(),
        });
        self.step_started = now;
        Ok(ok)
    }

    /// The last words.
    pub(super) fn end(mut self, ok: bool, kept: bool) -> Result<(), Failure> {
        self.summary.ok = ok;
        self.summary.kept = kept;
        self.summary.ms = self.started.elapsed().as_millis();
        if self.context.json {
            return self.context.print_json(&self.summary);
        }
        let seconds = self.summary.ms.div_ceil(1000);
        let dir = safe(&self.summary.dir);
        let last = match (ok, self.summary.steps.last()) {
            (true, _) => format!("\nEvery step held, in {seconds} s."),
            (false, Some(step)) => format!("\nThe story ended early: {}.", step.step),
            (false, None) => "\nThe story did not begin.".to_owned(),
        };
        let place = if kept {
            format!("The directory is kept: {dir}")
        } else {
            "The directory is removed.".to_owned()
        };
        self.line(&format!("{last}\n{place}"))
    }

    fn line(&self, text: &str) -> Result<(), Failure> {
        if self.context.json {
            return Ok(());
        }
        self.context.print(&format!("{text}\n"))
    }
}

/// Marks that the locale can show.
fn marks(var: impl Fn(&str) -> Option<String>) -> Marks {
    let names = ["LC_ALL", "LC_CTYPE", "LANG"];
    let locale = names.into_iter().filter_map(var).find(|name| !name.is_empty());
    let locale = locale.unwrap_or_default().to_ascii_lowercase();
    if locale.contains("utf-8") || locale.contains("utf8") {
        Marks { held: "✓", failed: "✗" }
    } else {
        Marks { held: "ok", failed: "FAILED" }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_follow_the_locale() {
        let held = |all: &str, lang: &str| {
            let of = |name: &str| match name {
                "LC_ALL" => Some(all.to_owned()),
                "LANG" => Some(lang.to_owned()),
                _ => None,
            };
            marks(of).held
        };
        assert_eq!(held("", "de_DE.UTF-8"), "✓");
        assert_eq!(held("C", "de_DE.UTF-8"), "ok");
        assert_eq!(held("", ""), "ok");
    }
}
