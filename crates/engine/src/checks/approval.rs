//! A person's yes: given, run out, or still to come.

use super::{Surroundings, Verdict};
use crate::words::{ago, one_line};
use model::id::Name;

pub(super) fn run(around: &Surroundings<'_>, check: &Name) -> Verdict {
    let help = format!("A person says yes to it: leftoff approve {check}");
    match around.session.approval(&around.phase.id, check) {
        None => Verdict::failed("not approved yet").needing("a person's approval").mended_by(help),
        Some(approval) => {
            let remark = approval.remark.as_ref().map(|remark| format!(" ({})", one_line(remark, 60)));
            let who = one_line(&approval.by, 60) + &remark.unwrap_or_default();
            let when = ago(approval.at, around.now);
            if approval.holds(around.now) {
                Verdict::passed(format!("approved by {who}, {when}"))
            } else {
                Verdict::failed(format!("the approval by {who}, {when}, has run out"))
                    .needing("a person's approval")
                    .mended_by(help)
            }
        }
    }
}
