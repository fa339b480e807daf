//! Words for times, phases and counts, and text from outside made safe to print. Knows no session.

mod harmless;
mod names;
mod times;

pub use harmless::{
    defused, defused_around_quotes, exact_lines, is_steering, one_line, quoted, without_steering,
};
pub use model::hint::shell_word;
pub use names::{
    counted, pause_reason, phase_called, phase_named, phase_titled, sentence, title_beside, version,
};
pub use times::{ago, date, duration, moment};
