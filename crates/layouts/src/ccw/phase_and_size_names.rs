//! The format's words for phases and sizes. The workflow decides which of them a session may use.

/// A phase as named in files.
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
    /// The phases of a session, in order, with the workflow's ids.
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

    /// The position of the phase in the workflow. The steps before a plan count as planning, and work without
    /// a plan counts as implementing. The position after the last phase means that nothing remains.
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

/// The size of the work.
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
