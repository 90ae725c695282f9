//! Charts as data: places in per cent, which the templates draw as SVG that fits any width.
//!
//! Every mark carries its numbers as words, and configurations differ by shape, not by colour alone.

use serde::Serialize;

/// One row of a chart: a dot with its interval on a scale.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Mark {
    label: String,
    /// The numbers in words; the text alternative.
    value: String,
    at: Option<f64>,
    low: Option<f64>,
    high: Option<f64>,
    shape: Shape,
}

/// How a mark is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Shape {
    Dot,
    Ring,
    Diamond,
}

impl Shape {
    /// The shape of a configuration.
    pub(crate) fn of(configuration: &str) -> Self {
        match configuration {
            "without_skill" => Self::Ring,
            "old_skill" => Self::Diamond,
            _ => Self::Dot,
        }
    }
}

impl Mark {
    /// A mark on a scale from `scale.0` to `scale.1`.
    pub(crate) fn new(
        label: String,
        value: String,
        (at, interval): (Option<f64>, Option<(f64, f64)>),
        scale: (f64, f64),
        shape: Shape,
    ) -> Self {
        let place = |number: f64| position(number, scale);
        Self {
            label,
            value,
            at: at.map(place),
            low: interval.map(|(low, _)| place(low)),
            high: interval.map(|(_, high)| place(high)),
            shape,
        }
    }
}

/// Where a number stands on a scale, in per cent; room is left at both ends for the mark itself.
fn position(number: f64, (from, to): (f64, f64)) -> f64 {
    let share = ((number - from) / (to - from)).clamp(0.0, 1.0);
    ((2.0 + share * 96.0) * 100.0).round() / 100.0
}

/// A line over steps, such as rounds or versions.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Line {
    name: String,
    shape: Shape,
    points: Vec<Point>,
    segments: Vec<Segment>,
}

#[derive(Debug, Clone, Serialize)]
struct Point {
    x: f64,
    y: f64,
    low: Option<f64>,
    high: Option<f64>,
    label: String,
    value: String,
}

#[derive(Debug, Clone, Serialize)]
struct Segment {
    from: (f64, f64),
    to: (f64, f64),
}

/// The height of a line chart, and the room above and below, in pixels.
const HEIGHT: f64 = 180.0;
const ROOM: f64 = 24.0;

/// One step of a line: its label, its value in words, the value and its interval.
pub(crate) type Step = (String, String, Option<f64>, Option<(f64, f64)>);

impl Line {
    pub(crate) fn new(name: &str, shape: Shape, steps: &[Step], scale: (f64, f64)) -> Self {
        let last = steps.len().saturating_sub(1).max(1);
        let y = |number: f64| {
            let part = ((number - scale.0) / (scale.1 - scale.0)).clamp(0.0, 1.0);
            ((HEIGHT - ROOM - part * (HEIGHT - 2.0 * ROOM)) * 10.0).round() / 10.0
        };
        #[expect(clippy::cast_precision_loss, reason = "there are few steps")]
        let x = |index: usize| (8.0 + index as f64 / last as f64 * 76.0).round();
        let points: Vec<Point> = steps
            .iter()
            .enumerate()
            .filter_map(|(index, (label, value, at, interval))| {
                Some(Point {
                    x: x(index),
                    y: y((*at)?),
                    low: interval.map(|(low, _)| y(low)),
                    high: interval.map(|(_, high)| y(high)),
                    label: label.clone(),
                    value: value.clone(),
                })
            })
            .collect();
        let segments = points
            .windows(2)
            .map(|pair| Segment { from: (pair[0].x, pair[0].y), to: (pair[1].x, pair[1].y) })
            .collect();
        Self { name: name.to_owned(), shape, points, segments }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_stay_on_the_scale() {
        for (number, place) in [(0.0, 2.0), (0.5, 50.0), (1.0, 98.0), (7.0, 98.0), (-1.0, 2.0)] {
            assert!((position(number, (0.0, 1.0)) - place).abs() < 1e-9, "{number}");
        }
    }

    #[test]
    fn a_step_without_a_value_leaves_no_point() {
        let step = |at| ("v".to_owned(), String::new(), at, None);
        let line =
            Line::new("l", Shape::Dot, &[step(Some(0.5)), step(None), step(Some(1.0))], (0.0, 1.0));
        assert_eq!(line.points.len(), 2);
        assert_eq!(line.segments.len(), 1);
    }
}
