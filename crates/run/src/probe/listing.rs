//! The list of skills that the model chose from: what is known of it for the agent that was asked, and its lines when a query
//! went wrong.

use std::sync::Arc;

use skillgauge_core::trigger::listing::{Listing, ListingRule, seen};
use skillgauge_format::trigger::{ListingBasis, QueryVerdict, TriggerListing, TriggerReport};
use tokio_util::sync::CancellationToken;

use super::capture::{self, Offer};
use super::error::ProbeError;
use super::measure::{Installed, ListingSource, Measurement, Probing, listed};
use super::prober::Prober;
use crate::agent::Descriptor;

impl Installed<'_> {
    /// What is known of the list; nothing for an agent of which nothing is.
    pub(super) async fn listing(
        &self,
        prober: &Arc<Prober>,
        measurement: &Measurement,
        report: &TriggerReport,
        cancel: &CancellationToken,
    ) -> Result<Option<TriggerListing>, ProbeError> {
        let offer = self.offerings.first().map(|(_, offering)| &offering.offer);
        let asked = report.measurement.as_ref().and_then(|it| it.agent.as_deref());
        let agent = asked.and_then(|name| descriptor(prober, name));
        let rule = match offer {
            // It is ours, and so is its rule.
            Some(Offer::BuiltIn(_)) => Some(ListingRule::claude_code()),
            Some(Offer::Captured(_)) | None => agent.as_ref().and_then(|it| it.listing.clone()),
        };
        let Some(rule) = rule else { return Ok(None) };
        // The skill under test comes last, as one that was never used: when there is no room, it is the first to lose its
        // text.
        let skills = measurement.neighbours.iter().chain([&measurement.skill]);
        let skills = listed(skills, &rule)?;
        let modelled = Listing::of(&skills, &rule);
        let mut found = modelled.describe(&skills, skills.len().saturating_sub(1), &rule);
        found.agent = agent.as_ref().map(|it| it.name.to_string());
        let has_failed =
            report.results.iter().any(|result| result.verdict() == QueryVerdict::Failed);
        if !has_failed {
            return Ok(Some(found));
        }
        let (basis, lines) = match offer {
            Some(Offer::BuiltIn(lines)) => (ListingBasis::Sent, lines.clone()),
            Some(Offer::Captured(request)) => {
                let names = self.skills.iter().map(|skill| skill.name.as_str());
                (ListingBasis::Captured, request.listing(names))
            }
            None => match self.heard(prober, measurement, agent.as_deref(), cancel).await {
                Some(lines) => (ListingBasis::Captured, lines),
                None => (ListingBasis::Modelled, modelled.lines),
            },
        };
        found.seen = Some(seen(basis, &lines, &measurement.skill.name));
        Ok(Some(found))
    }

    /// What the agent is heard to send.
    async fn heard(
        &self,
        prober: &Arc<Prober>,
        measurement: &Measurement,
        agent: Option<&Descriptor>,
        cancel: &CancellationToken,
    ) -> Option<Vec<String>> {
        let is_wanted = measurement.listing == ListingSource::Captured
            && matches!(self.probing, Probing::Agent { .. })
            && !cancel.is_cancelled();
        let agent = agent.filter(|_| is_wanted)?;
        capture::listing(prober, self.probing, agent, &self.skills, cancel).await
    }
}

fn descriptor(prober: &Prober, name: &str) -> Option<Arc<Descriptor>> {
    let settings = prober.executor().settings();
    settings.registry.get(name, &settings.folder).ok()
}
