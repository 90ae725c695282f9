//! Arguments of `validate`.

use std::path::PathBuf;

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use skillgauge_core::output::Format;
use skillgauge_core::profile::{PROFILES, Profile};

/// A profile's name.
pub type ProfileArg = &'static Profile;

/// A format's name.
pub type FormatArg = Format;

/// Check that skills are well formed
///
/// Exit code 0 when every skill is valid (warnings are allowed), 1 when one is not, 2 for bad usage.
#[derive(Args, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag on the command line")]
pub struct ValidateArgs {
    /// A skill, or any folder: then every skill below it is checked
    #[arg(value_name = "PATH", default_value = ".")]
    pub paths: Vec<PathBuf>,

    /// Make errors of the warnings that the contract marks `warning/error`
    #[arg(long)]
    pub strict: bool,

    /// How to write the report
    #[arg(long, value_name = "FORMAT", default_value = "text", value_parser = formats())]
    pub format: FormatArg,

    /// Whom the skill is for; with several, the most serious view counts
    #[arg(long = "profile", value_name = "PROFILE", value_delimiter = ',', value_parser = profiles())]
    pub profiles: Vec<ProfileArg>,

    /// Do not report these codes
    #[arg(long, value_name = "CODE", value_delimiter = ',')]
    pub ignore: Vec<String>,

    /// Allow lower-case letters and digits of any script in names
    #[arg(long)]
    pub allow_unicode_names: bool,

    /// Put right what can be put right without changing what a skill means
    ///
    /// Renames `skill.md` to `SKILL.md`, removes a byte order mark, quotes YAML values that do not parse or that
    /// other readers take for a boolean or a date. Everything else stays as it is, byte for byte.
    #[arg(long)]
    pub fix: bool,

    /// With --fix: show the changes as a diff, and change nothing
    #[arg(long, requires = "fix")]
    pub dry_run: bool,

    /// Look also where .gitignore says not to, and into node_modules
    #[arg(long)]
    pub no_ignore: bool,

    /// How many skills to check at a time [default: the number of processors]
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    pub jobs: Option<u16>,
}

fn formats() -> impl TypedValueParser<Value = Format> {
    let values = Format::ALL.map(|format| PossibleValue::new(format.name()).help(format.summary()));
    PossibleValuesParser::new(values).map(|name| {
        Format::ALL.into_iter().find(|format| format.name() == name).unwrap_or(Format::Text)
    })
}

fn profiles() -> impl TypedValueParser<Value = &'static Profile> {
    let value = |profile: &Profile| PossibleValue::new(profile.name).help(profile.summary);
    PossibleValuesParser::new(PROFILES.iter().map(value))
        .map(|name| Profile::named(&name).unwrap_or_else(Profile::default_profile))
}
