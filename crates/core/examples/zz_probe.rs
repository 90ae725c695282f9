//! probe
use skillgauge_core::{profile::*, rule::*, skill::*, validate::*};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::*;
fn main() {
    let root = std::env::args().nth(1).unwrap();
    let prof = std::env::args().nth(2).unwrap_or("default".into());
    let show = std::env::args().nth(3);
    let policy = Policy::of(Profile::named(&prof).unwrap());
    let mut counts: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    let mut n = 0;
    let mut t_read = Duration::ZERO;
    let mut t_check = Duration::ZERO;
    let mut bytes = 0;
    let mut skills = vec![];
    discover::find(Path::new(&root), discover::Ignore::Respected, &mut |f| {
        let t = Instant::now();
        let s = f.read();
        t_read += t.elapsed();
        skills.push(s);
        true
    });
    let mut out = vec![];
    for s in skills {
        n += 1;
        bytes += s.document().map_or(0, |d| d.text.len());
        let t = Instant::now();
        let c = Checked::new(s, &policy);
        t_check += t.elapsed();
        out.push(c);
    }
    for c in &out {
        let mut seen = std::collections::BTreeSet::new();
        for f in &c.findings {
            let e = counts.entry(f.rule.code).or_default();
            e.0 += 1;
            if seen.insert(f.rule.code) {
                e.1 += 1;
            }
            if Some(f.rule.code) == show.as_deref() {
                let p = f.place.position(c.text());
                println!("{}:{} {}", c.skill.path.display(), p.map_or(0, |p| p.line), f.message);
            }
        }
    }
    if show.is_none() {
        for (k, (f, s)) in &counts {
            println!("{s:6} skills {f:6} findings {k}");
        }
        println!(
            "{n} skills {bytes} bytes read {:?} check {:?} = {:?}/skill",
            t_read,
            t_check,
            t_check / (n as u32)
        );
        // per rule
        let paths: Vec<_> = out.iter().map(|c| c.skill.path.clone()).collect();
        drop(out);
        let load = || -> Vec<Skill> { paths.iter().map(|p| Skill::read(p)).collect() };
        let measure = |pol: &Policy| -> Duration {
            let mut best = Duration::MAX;
            for _ in 0..4 {
                let sk = load();
                let t = Instant::now();
                for s in sk {
                    std::hint::black_box(Checked::new(s, pol));
                }
                best = best.min(t.elapsed());
            }
            best / (n as u32)
        };
        println!("ALL min {:?}", measure(&policy));
        let mut none = policy.clone();
        none.ignored = RULES.iter().map(|x| x.code).collect();
        let base = measure(&none);
        let mut per = vec![];
        for r in RULES {
            let mut p2 = policy.clone();
            p2.ignored = RULES.iter().filter(|x| x.code != r.code).map(|x| x.code).collect();
            per.push((measure(&p2), r.code));
        }
        per.sort();
        per.reverse();
        for (d, c) in per.iter().take(20) {
            println!("{:?} {c}", d.saturating_sub(base));
        }
        println!("base {base:?}");
    }
}
