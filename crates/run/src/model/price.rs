//! List prices, for the models whose prices we are sure of.
//!
//! The cost of anything else is not known, and absent: a wrong number is worse than none. A price holds only at the
//! vendor's own address, so a gateway that uses the same names has no price here.
//!
//! The prices of Anthropic's models are what Claude Code 2.1.325 calculates with (`costBasis: list`), measured for each
//! kind of token; the cache is the one of five minutes.

use reqwest::Url;
use skillgauge_format::transcript::Usage;

use super::name::ProviderKind;

/// When the prices were looked at.
pub const PRICES_AS_OF: &str = "2026-11-15";

/// US dollars per million tokens.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Price {
    /// Input that no cache served.
    pub input: f64,
    pub output: f64,
    pub cache_read: f64,
    /// Input that was written to a cache.
    pub cache_write: f64,
}

const fn price(input: f64, output: f64, cache_read: f64, cache_write: f64) -> Price {
    Price { input, output, cache_read, cache_write }
}

/// The table. A name also stands for its dated forms, such as `claude-sonnet-4-5-20250929`.
static PRICES: [(ProviderKind, &str, Price); 9] = {
    use ProviderKind::Anthropic;
    [
        (Anthropic, "claude-haiku-4-5", price(1.0, 5.0, 0.1, 1.25)),
        (Anthropic, "claude-opus-4-5", price(5.0, 25.0, 0.5, 6.25)),
        (Anthropic, "claude-opus-4-6", price(5.0, 25.0, 0.5, 6.25)),
        (Anthropic, "claude-opus-4-7", price(5.0, 25.0, 0.5, 6.25)),
        (Anthropic, "claude-opus-5", price(5.0, 25.0, 0.5, 6.25)),
        (Anthropic, "claude-opus-5-5", price(4.0, 20.0, 0.2, 5.0)),
        (Anthropic, "claude-sonnet-4-5", price(3.0, 15.0, 0.3, 3.75)),
        (Anthropic, "claude-sonnet-4-6", price(3.0, 15.0, 0.3, 3.75)),
        (Anthropic, "claude-sonnet-5", price(2.0, 10.0, 0.2, 2.5)),
    ]
};

/// The price of a model at its vendor's own address.
pub fn price_of(provider: ProviderKind, model: &str) -> Option<Price> {
    let is_date =
        |rest: &str| rest.len() >= 8 && rest.chars().all(|c| c.is_ascii_digit() || c == '-');
    let names = |name: &str| {
        model
            .strip_prefix(name)
            .is_some_and(|rest| rest.is_empty() || rest.strip_prefix('-').is_some_and(is_date))
    };
    PRICES.iter().find(|(of, name, _)| *of == provider && names(name)).map(|(_, _, price)| *price)
}

impl Price {
    /// What so many tokens cost, in US dollars.
    pub fn cost(&self, usage: &Usage) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "nobody pays for 2^53 tokens")]
        let dollars = |tokens: u64, price: f64| tokens as f64 * price / 1_000_000.0;
        dollars(usage.input_tokens, self.input)
            + dollars(usage.output_tokens, self.output)
            + dollars(usage.cache_read_tokens, self.cache_read)
            + dollars(usage.cache_write_tokens, self.cache_write)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Vendor {
    /// The address is the vendor's own.
    Own,
    /// It is somebody else's.
    Other,
}

impl Vendor {
    pub(super) fn at(url: &Url, own: &str) -> Self {
        let own = Url::parse(own).ok();
        let is_own = own.is_some_and(|own| own.host_str() == url.host_str());
        if is_own { Self::Own } else { Self::Other }
    }
}

impl Vendor {
    /// What so many tokens of a model cost here, if that is known.
    pub(super) fn cost(
        self,
        provider: ProviderKind,
        usage: &Usage,
        model: Option<&str>,
    ) -> Option<f64> {
        match self {
            Self::Own => price_of(provider, model?).map(|price| price.cost(usage)),
            Self::Other => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cost_is_the_one_that_claude_code_calculates() {
        let usage = Usage {
            input_tokens: 1000,
            output_tokens: 50,
            cache_read_tokens: 300,
            cache_write_tokens: 20,
            ..Usage::default()
        };
        let price = price_of(ProviderKind::Anthropic, "claude-sonnet-4-5-20250929").unwrap();
        assert!((price.cost(&usage) - 0.003_915).abs() < 1e-12);
    }

    #[test]
    fn only_exact_names_and_their_dated_forms_have_a_price() {
        let output = |provider, name| price_of(provider, name).unwrap().output;
        for name in ["claude-opus-5", "claude-opus-5-20260801"] {
            assert!((output(ProviderKind::Anthropic, name) - 25.0).abs() < 1e-9, "{name}");
        }
        assert!((output(ProviderKind::Anthropic, "claude-opus-5-5") - 20.0).abs() < 1e-9);
        for (provider, name) in [
            (ProviderKind::Anthropic, "claude-opus-55"),
            (ProviderKind::Anthropic, "claude-opus-6"),
            (ProviderKind::OpenAi, "claude-opus-5"),
            (ProviderKind::OpenAi, "gpt-5"),
            (ProviderKind::Command, "gpt-4o"),
        ] {
            assert_eq!(price_of(provider, name), None, "{name}");
        }
    }

    #[test]
    fn list_prices_hold_at_the_vendors_own_address_only() {
        let at = |url: &str| Vendor::at(&Url::parse(url).unwrap(), "https://api.anthropic.com");
        assert_eq!(at("https://api.anthropic.com/v1/messages"), Vendor::Own);
        assert_eq!(at("http://127.0.0.1:8080/v1/messages"), Vendor::Other);

        let usage = Usage { output_tokens: 1_000_000, ..Usage::default() };
        let cost = |vendor: Vendor, model| vendor.cost(ProviderKind::Anthropic, &usage, model);
        assert_eq!(cost(Vendor::Own, Some("claude-sonnet-4-5")), Some(15.0));
        assert_eq!(cost(Vendor::Other, Some("claude-sonnet-4-5")), None);
        assert_eq!(cost(Vendor::Own, Some("claude-unheard-of")), None);
        assert_eq!(cost(Vendor::Own, None), None);
    }
}
