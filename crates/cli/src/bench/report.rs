//! Figures: what was measured, beside what, and whether it is good enough.

use std::time::Duration;

use serde::Serialize;

/// One measured figure.
#[derive(Clone, Debug, Serialize)]
pub struct Figure {
    /// Its name.
    pub name: &'static str,
    /// The middle of the times, in microseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p50_us: Option<f64>,
    /// The time that one in a hundred exceeds, in microseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p99_us: Option<f64>,
    /// How many in a second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub per_s: Option<f64>,
    /// A size.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// Beside another figure of the same run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ratio: Option<Ratio>,
    /// What is to be reached.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub goal: Option<f64>,
    /// Whether it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub met: Option<bool>,
}

/// A figure beside another.
#[derive(Clone, Debug, Serialize)]
pub struct Ratio {
    /// The other.
    pub to: &'static str,
    /// How many times.
    pub value: f64,
}

/// What is to be reached.
#[derive(Clone, Copy, Debug)]
pub enum Goal {
    /// Not more than this.
    AtMost(f64),
    /// Not less than this.
    AtLeast(f64),
}

impl Figure {
    /// A figure without values.
    pub fn named(name: &'static str) -> Self {
        Self {
            name,
            p50_us: None,
            p99_us: None,
            per_s: None,
            bytes: None,
            ratio: None,
            goal: None,
            met: None,
        }
    }

    /// From the times of many single operations.
    pub fn from_times(name: &'static str, times: &mut [Duration]) -> Self {
        times.sort_unstable();
        let at = |share: f64| {
            let last = times.len().saturating_sub(1);
            let index = ((times.len() as f64 * share) as usize).min(last);
            times.get(index).map(|time| micros(*time))
        };
        let total: Duration = times.iter().sum();
        let per_s = times.len() as f64 / total.as_secs_f64().max(f64::EPSILON);
        Self { p50_us: at(0.5), p99_us: at(0.99), per_s: Some(round(per_s)), ..Self::named(name) }
    }

    /// From a number of operations that took a time together.
    pub fn from_rate(name: &'static str, operations: u64, took: Duration) -> Self {
        let per_s = operations as f64 / took.as_secs_f64().max(f64::EPSILON);
        Self { per_s: Some(round(per_s)), ..Self::named(name) }
    }

    /// Judges a value.
    #[must_use]
    pub fn judged(mut self, value: f64, goal: Goal) -> Self {
        let (limit, met) = match goal {
            Goal::AtMost(limit) => (limit, value <= limit),
            Goal::AtLeast(limit) => (limit, value >= limit),
        };
        self.goal = Some(limit);
        self.met = Some(met);
        self
    }

    /// Puts it beside another figure and judges the ratio.
    #[must_use]
    pub fn beside(mut self, to: &'static str, value: f64, goal: Option<Goal>) -> Self {
        self.ratio = Some(Ratio { to, value: (value * 1000.0).round() / 1000.0 });
        match goal {
            Some(goal) => self.judged(value, goal),
            None => self,
        }
    }
}

/// All figures of a run.
pub struct Report<'a> {
    figures: Vec<Figure>,
    each: &'a mut dyn FnMut(&Figure),
}

impl<'a> Report<'a> {
    /// An empty one.
    pub fn new(each: &'a mut dyn FnMut(&Figure)) -> Self {
        Self { figures: Vec::new(), each }
    }

    /// Adds a figure.
    pub fn add(&mut self, figure: Figure) {
        (self.each)(&figure);
        self.figures.push(figure);
    }

    /// The middle time of an earlier figure, in microseconds.
    pub fn p50(&self, name: &str) -> f64 {
        self.find(name).and_then(|figure| figure.p50_us).unwrap_or(f64::NAN)
    }

    /// The rate of an earlier figure.
    pub fn per_s(&self, name: &str) -> f64 {
        self.find(name).and_then(|figure| figure.per_s).unwrap_or(f64::NAN)
    }

    /// All figures.
    pub fn figures(&self) -> &[Figure] {
        &self.figures
    }

    fn find(&self, name: &str) -> Option<&Figure> {
        self.figures.iter().find(|figure| figure.name == name)
    }
}

fn micros(time: Duration) -> f64 {
    (time.as_nanos() as f64 / 10.0).round() / 100.0
}

fn round(value: f64) -> f64 {
    (value * 10.0).round() / 10.0
}
