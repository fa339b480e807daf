//! The words of the format for phases and sizes. Which of them a session may follow is the workflow's matter.

/// A phase as the files name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PhaseWord {
    Init,
    Brainstorm,
    Vibe,
    Plan,
    Implement,
    Review,
    Complete,
}

impl PhaseWord {
    pub const ALL: [Self; 7] =
        [Self::Init, Self::Brainstorm, Self::Vibe, Self::Plan, Self::Implement, Self::Review, Self::Complete];
    /// Those that a session goes through, in order, with the ids that the workflow gives them.
    pub const STEPS: [(Self, &'static str); 3] =
        [(Self::Plan, "plan"), (Self::Implement, "implement"), (Self::Review, "review")];

    pub fn word(self) -> &'static str {
        match self {
            Self::Init => "INIT",
            Self::Brainstorm => "BRAINSTORM",
            Self::Vibe => "VIBE",
            Self::Plan => "PLAN",
            Self::Implement => "IMPLEMENT",
            Self::Review => "REVIEW",
            Self::Complete => "COMPLETE",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|phase| phase.word().eq_ignore_ascii_case(text.trim()))
    }

    /// Which of the workflow's phases it is part of: what comes before a plan belongs to planning, work without a
    /// plan is implementing. One more than the last when nothing is left.
    pub fn position(self) -> usize {
        match self {
            Self::Init | Self::Brainstorm | Self::Plan => 0,
            Self::Vibe | Self::Implement => 1,
            Self::Review => 2,
            Self::Complete => 3,
        }
    }

    pub fn of_step(id: &str) -> Option<Self> {
        Self::STEPS.into_iter().find(|(_, step)| *step == id).map(|(phase, _)| phase)
    }

    pub fn at(position: usize) -> Self {
        Self::STEPS.get(position).map_or(Self::Complete, |(phase, _)| *phase)
    }
}

/// How large the work is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Size {
    Simple,
    Medium,
    Complex,
}

impl Size {
    pub const ALL: [Self; 3] = [Self::Simple, Self::Medium, Self::Complex];

    pub fn word(self) -> &'static str {
        match self {
            Self::Simple => "simple",
            Self::Medium => "medium",
            Self::Complex => "complex",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|size| size.word().eq_ignore_ascii_case(text.trim()))
    }
}
