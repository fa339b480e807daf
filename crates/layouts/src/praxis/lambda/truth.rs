//! Expresses Python's rules of truth and equality in CEL: True equals 1, and empty values are false.

use super::cel::{ResultType, Written, alike, any_of};

/// A CEL condition that is true if Python treats the value as true.
pub(super) fn is_true(written: &Written) -> String {
    let Written { text, kind, is_sure } = written;
    match kind {
        ResultType::Nothing => "(false)".to_owned(),
        ResultType::Boolean if *is_sure => format!("({text})"),
        ResultType::Number if *is_sure => format!("({text} != 0)"),
        ResultType::Decimal if *is_sure => format!("({text} != 0.0)"),
        ResultType::Text | ResultType::List | ResultType::Object if *is_sure => format!("(size({text}) > 0)"),
        ResultType::Boolean
        | ResultType::Number
        | ResultType::Decimal
        | ResultType::Text
        | ResultType::List
        | ResultType::Object
        | ResultType::Unknown => {
            format!("(!({text} in [false, 0, 0.0, \"\", null, [], {{}}]))")
        }
    }
}

/// A CEL condition that compares two values. A boolean is converted to a number if the other value may be a
/// number.
pub(super) fn compared(left: &Written, sign: &str, right: &Written) -> Result<String, String> {
    let is_equality = matches!(sign, "==" | "!=");
    let has_no_order = |written: &&Written| {
        matches!(written.kind, ResultType::List | ResultType::Object | ResultType::Nothing)
    };
    if let Some(other) = [left, right].into_iter().find(has_no_order).filter(|_| !is_equality) {
        return Err(format!("'{sign}' with {}, which is neither a number nor a string", other.text));
    }
    Ok(in_cel(left, sign, right))
}

fn in_cel(left: &Written, sign: &str, right: &Written) -> String {
    let is_order = !matches!(sign, "==" | "!=");
    let has_flag = [left, right].iter().any(|written| written.kind == ResultType::Boolean);
    if may_be_true_and_1(left, right) || (is_order && has_flag) {
        return format!("{} {sign} {}", as_number(left), as_number(right));
    }
    if left.is_sure && right.is_sure {
        let (left, right, _) = alike(left, right);
        return format!("{left} {sign} {right}");
    }
    format!("{} {sign} {}", left.text, right.text)
}

/// A CEL condition that is true if a list with unknown content contains a value. If the value may be a
/// boolean, the list is also searched for the equal number.
pub(super) fn is_in_list(part: &Written, list: &Written) -> String {
    let is_in = |text: &str| format!("{text} in {}", list.text);
    if part.is_sure { is_in(&part.text) } else { any_of(vec![is_in(&part.text), is_in(&as_number(part))]) }
}

/// A CEL condition that is true if a literal list contains a value.
pub(super) fn is_one_of(part: &Written, members: &[Written]) -> String {
    if members.iter().any(|member| may_be_true_and_1(part, member)) {
        return any_of(members.iter().map(|member| in_cel(part, "==", member)).collect());
    }
    let members: Vec<&str> = members.iter().map(|member| member.text.as_str()).collect();
    format!("{} in [{}]", part.text, members.join(", "))
}

/// True if one of two values may be a boolean and the other a number.
fn may_be_true_and_1(one: &Written, other: &Written) -> bool {
    let may_be = |written: &Written, kinds: &[ResultType]| !written.is_sure || kinds.contains(&written.kind);
    let flags = [ResultType::Boolean, ResultType::Unknown];
    let numbers = [ResultType::Number, ResultType::Decimal, ResultType::Unknown];
    (may_be(one, &flags) && may_be(other, &numbers)) || (may_be(other, &flags) && may_be(one, &numbers))
}

fn as_number(written: &Written) -> String {
    let text = &written.text;
    match written.kind {
        ResultType::Boolean if written.is_sure => format!("({text} ? 1 : 0)"),
        ResultType::Number
        | ResultType::Decimal
        | ResultType::Text
        | ResultType::List
        | ResultType::Object
        | ResultType::Nothing
            if written.is_sure =>
        {
            text.clone()
        }
        ResultType::Boolean
        | ResultType::Number
        | ResultType::Decimal
        | ResultType::Text
        | ResultType::List
        | ResultType::Object
        | ResultType::Nothing
        | ResultType::Unknown => format!("({text} == true ? 1 : ({text} == false ? 0 : {text}))"),
    }
}
