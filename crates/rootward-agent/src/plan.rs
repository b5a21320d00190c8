//! What the file says, made into checks: a plan that can be run, or everything that is wrong.

use std::collections::BTreeMap;
use std::fmt;

use rootward::{Check, Criticality, Labelled, MAX_CHECKS, Scope, Unlabelled};
use rootward_config::agent::{
    AgentSpec, ApplicationSpec, Definition, Draft, DraftCheck, Elsewhere, Spot, read,
};
use rootward_config::{Problem, Problems, Source};

use crate::file::Values;
use crate::kinds::Unfit;
use crate::{access, application, identity, kinds};

/// An agent that can be started.
pub struct Plan {
    pub(crate) spec: AgentSpec,
    pub(crate) checks: Vec<Planned>,
}

/// One check, and what it was made from.
#[derive(Debug)]
pub(crate) struct Planned {
    pub(crate) name: String,
    pub(crate) made_from: MadeFrom,
    /// Until it runs.
    pub(crate) check: Option<Check<Labelled>>,
}

/// What a check was made from. If it is the same after a reload, so is the check.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum MadeFrom {
    Definition(Box<Definition>),
    Application(Box<ApplicationSpec>),
}

impl Plan {
    /// Reads the file of an agent, with `env` as the environment, and makes its checks. It connects to nothing. The files
    /// that values stand in are read.
    ///
    /// # Errors
    /// Everything that is wrong, by position.
    pub fn compile(source: &Source, env: &BTreeMap<String, String>) -> Result<Self, Problems> {
        Self::compile_with(source, env, &Values::default())
    }

    /// The same, remembering which files were read for values.
    pub(crate) fn compile_with(
        source: &Source,
        env: &BTreeMap<String, String>,
        values: &Values,
    ) -> Result<Self, Problems> {
        let elsewhere = Elsewhere {
            env,
            files: &|path| values.value(path),
        };
        let mut draft = read(source, &elsewhere, &kinds::specs());
        access::check(&mut draft);
        let checks = checks(&mut draft);
        let mut spec = draft.finish()?;
        spec.service = identity::complete(&spec.service, env);
        Ok(Self { spec, checks })
    }

    /// How many checks there are, the application among them.
    #[must_use]
    pub fn checks(&self) -> usize {
        self.checks.len()
    }

    /// What is allowed and yet probably not meant, by position.
    #[must_use]
    pub fn warnings(&self) -> &[Problem] {
        &self.spec.warnings
    }
}

impl fmt::Debug for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Plan")
            .field("service", &self.spec.service.name)
            .field("checks", &self.checks.len())
            .finish_non_exhaustive()
    }
}

/// The checks of which nothing is wrong; the rest is in the draft.
fn checks(draft: &mut Draft) -> Vec<Planned> {
    let mut planned = Vec::new();
    if let (Some(listen), Some(application)) = (draft.listen(), draft.application()) {
        let (bind, application) = (listen.bind, application.clone());
        if let Some(check) = application::check(&application, bind, draft) {
            planned.push(Planned {
                name: application::NAME.to_owned(),
                made_from: MadeFrom::Application(Box::new(application)),
                check: Some(check),
            });
        }
    }
    let mut refused = Vec::new();
    for said in draft.checks() {
        // Its settings are judged whatever else is wrong with it.
        let name = said.definition.as_ref();
        let name = name.map_or("check", |definition| definition.name.as_str());
        match (
            kinds::build(said.kind, name, &said.settings),
            &said.definition,
        ) {
            (Ok(check), Some(definition)) => planned.push(Planned {
                name: name.to_owned(),
                made_from: MadeFrom::Definition(Box::new(definition.clone())),
                check: Some(labelled(check, definition)),
            }),
            (Ok(_), None) => {}
            (Err(unfit), _) => refused.push(refusal(said, unfit)),
        }
    }
    if planned.len() > MAX_CHECKS
        && let Some(first) = draft.checks().get(MAX_CHECKS)
    {
        let message = format!("{} checks are too many", planned.len());
        refused.push((
            first.spot(),
            message,
            format!("at most {MAX_CHECKS} are allowed"),
        ));
    }
    for (spot, message, help) in refused {
        draft.refuse(&spot, message, help);
    }
    planned
}

fn refusal(said: &DraftCheck, unfit: Unfit) -> (Spot, String, String) {
    let help = format!("write it like {}: {}", said.kind, kinds::example(said.kind));
    (said.settings.spot(unfit.key).clone(), unfit.sentence, help)
}

/// What all kinds have in common.
fn labelled(check: Check<Unlabelled>, said: &Definition) -> Check<Labelled> {
    let mut check = match said.criticality {
        Criticality::Hard => check.hard(),
        Criticality::Soft => check.soft(),
        Criticality::Informational => check.informational(),
    };
    check = check.interval(said.interval).timeout(said.timeout);
    check = match said.scope {
        Some(Scope::Local) => check.local(),
        Some(Scope::Shared) => check.shared(),
        None => check,
    };
    if let Some(fall) = said.fall {
        check = check.fall(fall);
    }
    if let Some(rise) = said.rise {
        check = check.rise(rise);
    }
    if let Some(slow) = said.slow_above {
        check = check.slow_above(slow);
    }
    if let Some(gates) = said.gates_readiness {
        check = check.gates_readiness(gates);
    }
    if let Some(owner) = &said.owner {
        check = check.owner(owner);
    }
    if let Some(target) = &said.target {
        check = check.target(target);
    }
    check
}
