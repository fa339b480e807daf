//! Parsers of input from outside, for the fuzz targets in `fuzz/`. Not part of the program.

use layouts::definition::Reading;

/// Checks a definition's expressions and patterns.
pub fn definition(read: &Reading) {
    let _ = crate::checks::mistakes(&read.workflow, &read.lines, "fuzz");
}

pub fn compiles(expression: &str) -> bool {
    crate::checks::expression::compile(expression).is_ok()
}

pub fn bundle(bytes: &[u8]) {
    crate::execute::read_bundle(bytes);
}

/// Parses a segment and its path. The first line of the input is the path; the other lines are the segment.
pub fn segment(bytes: &[u8]) {
    crate::sharing::read_segment(bytes);
}

pub fn requirements(text: &str) {
    let source = layouts::requirements::Source { path: "requirements.yaml", text };
    let _ = layouts::requirements::read(&[source]);
}
