//! A table of measurements and their limits, which shows whether each measurement is within its limit. Each
//! line is printed at once.

pub struct Table {
    missed: usize,
}

/// The limit of a measurement.
#[derive(Clone, Copy)]
pub enum Must {
    AtMost(f64),
    AtLeast(f64),
    /// The measurement has no limit.
    Nothing,
}

impl Table {
    pub fn begin(machine: &str) -> Self {
        println!("{machine}\n");
        println!("{:<46} {:>9} {:>8}  {:<8} of", "what", "measured", "must", "verdict");
        Self { missed: 0 }
    }

    /// Prints a measurement. `of` shows the times or counts from which it was computed.
    pub fn line(&mut self, what: &str, measured: f64, must: Must, of: &str) {
        let (bound, holds) = match must {
            Must::AtMost(bound) => (format!("≤ {bound}"), Some(measured <= bound)),
            Must::AtLeast(bound) => (format!("≥ {bound}"), Some(measured >= bound)),
            Must::Nothing => (String::new(), None),
        };
        let verdict = match holds {
            Some(true) => "holds",
            Some(false) => "MISSED",
            None => "",
        };
        self.missed += usize::from(holds == Some(false));
        println!("{what:<46} {measured:>9.2} {bound:>8}  {verdict:<8} {of}");
    }

    pub fn all_hold(&self) -> bool {
        self.missed == 0
    }

    pub fn end(&self) {
        match self.missed {
            0 => println!("\nall hold"),
            missed => println!("\n{missed} missed"),
        }
    }
}
