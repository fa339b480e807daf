//! Keys of the state file that are not fields of the session, and the command that sets each of them. The
//! session itself determines the value of such a key, or stores it elsewhere.

use super::STAGES;
use crate::capabilities::FieldOf;

pub(super) fn instead(of: FieldOf, name: &str) -> Option<String> {
    let known = |name| match of {
        FieldOf::Session => of_session(name),
        FieldOf::Phase => of_stage(name),
        FieldOf::Item => of_section(name),
    };
    match last_key(name) {
        None => known(name).map(ToOwned::to_owned),
        Some(key) => {
            Some(known(key).map_or_else(|| format!("use only the last key: {key}=VALUE"), ToOwned::to_owned))
        }
    }
}

/// The last key of a path into the state file.
fn last_key(name: &str) -> Option<&str> {
    let (above, key) = name.rsplit_once('.')?;
    let is_stage = |key: &str| STAGES.iter().any(|stage| stage.key == key);
    let is_mapping = ["voice_calibration", "output", "stages"].contains(&above)
        || above.strip_prefix("stages.").unwrap_or(above).split('.').next().is_some_and(is_stage);
    is_mapping.then_some(key)
}

fn of_session(name: &str) -> Option<&'static str> {
    Some(match name {
        "status" => "use leftoff pause, resume, close or abandon",
        "current_stage" | "current_stage_name" => "use leftoff advance, revisit or rollback",
        "session_dir" => "its value is the path of the session's folder",
        "started_at" | "last_activity" | "completed_at" => {
            "leftoff writes it when the session, stage or section starts or ends"
        }
        "stages" => "name a stage: leftoff set --phase thesis_development development_log=PATH",
        "voice_calibration" => "set its keys: leftoff set calibration_notes=TEXT",
        "output" => "set its keys: leftoff set 'total_word_count=<number>'",
        "deferred_verifications" => "use leftoff note '<claim>' --kind deferred --field reason=timeout",
        "user_overrides" => "use leftoff note '<claim>' --kind override --field 'user_rationale=<text>'",
        "revision_history" => "use leftoff revisit",
        "birds_eye_approved" => "it needs approval: leftoff approve birds-eye",
        "thesis_file" => "it belongs to a stage: leftoff set --phase thesis_development thesis_file=PATH",
        "development_log" => {
            "it belongs to a stage: leftoff set --phase thesis_development development_log=PATH"
        }
        "outline_file" => "it belongs to a stage: leftoff set --phase essay_structuring outline_file=PATH",
        "draft_file" => "it belongs to a stage: leftoff set --phase paragraph_writing draft_file=PATH",
        "paragraph_log" => "it belongs to a stage: leftoff set --phase paragraph_writing paragraph_log=PATH",
        "current_section" | "current_paragraph" | "sections" => return of_stage(name),
        "argument_map_file" => "it belongs to a section: leftoff item set section-1 argument_map_file=PATH",
        "voice_check_score" => "it belongs to a section: leftoff item set draft-1 voice_check_score=4",
        "verified_claims" => "it belongs to a section: leftoff item set section-1 --count verified_claims=+1",
        "deferred_claims" => "it belongs to a section: leftoff item set section-1 --count deferred_claims=+1",
        "section_index" | "total_paragraphs" | "completed_paragraphs" => return of_section(name),
        _ => return None,
    })
}

fn of_stage(name: &str) -> Option<&'static str> {
    Some(match name {
        "status" => "use leftoff advance, revisit or rollback",
        "completed_at" => "leftoff writes it when the session, stage or section starts or ends",
        "claim_type" => "it is a field of the session: leftoff set 'claim_type=<type>'",
        "total_sections" => "it is a field of the session: leftoff set 'total_sections=<number>'",
        "target_word_count" => "it is a field of the session: leftoff set 'target_word_count=<number>'",
        "audience" => "it is a field of the session: leftoff set 'audience=<audience>'",
        "birds_eye_approved" => "it needs approval: leftoff approve birds-eye",
        "current_section" | "current_paragraph" => "use leftoff item start section-1, or draft-1.1",
        "sections" => "use leftoff item add '<title>' --id section-1, or draft-1",
        _ => return None,
    })
}

fn of_section(name: &str) -> Option<&'static str> {
    Some(match name {
        "section_index" => "its value is the number in the section's id",
        "status" => "use leftoff item start or leftoff item done",
        "completed_at" => "leftoff writes it when the session, stage or section starts or ends",
        "verified_claims" => "it is a counter: --count verified_claims=+1",
        "deferred_claims" => "it is a counter: --count deferred_claims=+1",
        "total_paragraphs" => {
            "use leftoff item split draft-1 --into '<title>', or item add '<title>' --parent draft-1"
        }
        "completed_paragraphs" => "use leftoff item done draft-1.1",
        _ => return None,
    })
}
