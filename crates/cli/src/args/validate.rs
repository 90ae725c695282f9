//! Arguments of `validate`.

use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use skillgauge_core::output::Format;
use skillgauge_core::profile::{PROFILES, Profile};

use super::OutputArgs;

/// A profile's name.
pub type ProfileArg = &'static Profile;

/// A format's name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FormatArg(pub Format);

impl ValueEnum for FormatArg {
    fn value_variants<'a>() -> &'a [Self] {
        const ALL: [FormatArg; Format::ALL.len()] = {
            let mut all = [FormatArg(Format::Text); Format::ALL.len()];
            let mut index = 0;
            while index < all.len() {
                all[index] = FormatArg(Format::ALL[index]);
                index += 1;
            }
            all
        };
        &ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.0.name()).help(self.0.summary()))
    }
}

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

    /// How and where the result is written.
    #[command(flatten)]
    pub output: OutputArgs<FormatArg>,

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

fn profiles() -> impl TypedValueParser<Value = &'static Profile> {
    let value = |profile: &Profile| PossibleValue::new(profile.name).help(profile.summary);
    PossibleValuesParser::new(PROFILES.iter().map(value))
        .map(|name| Profile::named(&name).unwrap_or_else(Profile::default_profile))
}
