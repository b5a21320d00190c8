//! `rootward explain NAME`: finds what has that name, and says why it is as it is.

use rootward_config::nearest;
use rootward_demo::aggregator::{Client, segment};
use rootward_wire::v1::api::{
    Cause, Diagnosis, Impact, Incident, Incidents, Overview, ResourceDetail, ServiceDetail,
};

use crate::arguments::Explain;
use crate::commands::{client, small_runtime};
use crate::exit::Exit;
use crate::render::{cause, incident, resource, service};
use crate::terminal::Terminal;
use crate::text::Page;
use crate::trouble::Trouble;

pub(crate) fn run(arguments: &Explain, terminal: &Terminal) -> Result<Exit, Trouble> {
    let client = client(&arguments.aggregator.url)?;
    let page = small_runtime()?.block_on(explain(&client, arguments.name.trim()))?;
    terminal.show(&page)?;
    Ok(Exit::Well)
}

async fn explain(client: &Client, name: &str) -> Result<Page, Trouble> {
    let known = Known {
        overview: client.get("/api/v1/overview").await?,
        incidents: client.get("/api/v1/incidents").await?,
        diagnosis: client.get("/api/v1/diagnosis").await?,
    };
    match known.find(name) {
        Some(Subject::Service(found)) => {
            let path = format!("/api/v1/services/{}", segment(found));
            let detail: ServiceDetail = client.get(&path).await?;
            if name != found && !detail.detail.iter().any(|instance| instance.id == name) {
                let ids = detail.detail.iter().map(|instance| instance.id.as_str());
                return Err(unknown(name, ids));
            }
            Ok(service::page(&detail, &known.diagnosis))
        }
        Some(Subject::Resource(found)) => {
            let path = format!("/api/v1/resources/{}", segment(found));
            let detail: ResourceDetail = client.get(&path).await?;
            let id = format!("node:{found}");
            let causes = known
                .diagnosis
                .root_causes
                .iter()
                .chain(&known.diagnosis.suspected);
            let root = causes.clone().find(|cause| cause.id == id);
            Ok(resource::page(&detail, root, &known.reached_by(&id)))
        }
        Some(Subject::Incident(found)) => Ok(incident::page(found, known.incidents.generated_at)),
        Some(Subject::Cause(found)) => Ok(cause::page(
            found,
            &known.reached_by(&found.id),
            known.diagnosis.generated_at,
        )),
        None => Err(unknown(name, known.names())),
    }
}

/// What the aggregator knows, as far as names go.
struct Known {
    overview: Overview,
    incidents: Incidents,
    diagnosis: Diagnosis,
}

/// What a name can mean.
enum Subject<'a> {
    Service(&'a str),
    Resource(&'a str),
    Incident(&'a Incident),
    Cause(&'a Cause),
}

impl Known {
    /// Services and resources first: their names are given by people, the others by us.
    fn find(&self, name: &str) -> Option<Subject<'_>> {
        let service = name.split('#').next().unwrap_or(name);
        let services = self.overview.services.iter().map(|row| row.name.as_str());
        let resources = self.overview.resources.iter().map(|row| row.name.as_str());
        let incidents = || self.incidents.open.iter().chain(&self.incidents.resolved);
        let causes = self
            .diagnosis
            .root_causes
            .iter()
            .chain(&self.diagnosis.suspected);
        services
            .into_iter()
            .find(|known| *known == service)
            .map(Subject::Service)
            .or_else(|| {
                resources
                    .into_iter()
                    .find(|known| *known == name)
                    .map(Subject::Resource)
            })
            .or_else(|| {
                incidents()
                    .find(|incident| incident.id == name)
                    .map(Subject::Incident)
            })
            .or_else(|| {
                causes
                    .into_iter()
                    .find(|cause| cause.id == name)
                    .map(Subject::Cause)
            })
            .or_else(|| {
                incidents()
                    .find(|incident| incident.cause == name)
                    .map(Subject::Incident)
            })
    }

    fn reached_by(&self, cause: &str) -> Vec<&Impact> {
        let impacts = self.diagnosis.impacted.iter();
        impacts.filter(|impact| impact.cause == cause).collect()
    }

    /// Everything that could have been meant.
    fn names(&self) -> impl Iterator<Item = &str> {
        let services = self.overview.services.iter().map(|row| row.name.as_str());
        let resources = self.overview.resources.iter().map(|row| row.name.as_str());
        let incidents = self.incidents.open.iter().chain(&self.incidents.resolved);
        let causes = self
            .diagnosis
            .root_causes
            .iter()
            .chain(&self.diagnosis.suspected);
        services
            .chain(resources)
            .chain(incidents.map(|incident| incident.id.as_str()))
            .chain(causes.map(|cause| cause.id.as_str()))
    }
}

fn unknown<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Trouble {
    let sentence = format!("no service, instance, resource, incident or cause is called {name:?}");
    let trouble = Trouble::new(Exit::WrongInput, sentence);
    match nearest(name, known) {
        Some(meant) => trouble.with_help(format!("did you mean {meant}?")),
        None => trouble.with_help("`rootward status` lists what there is"),
    }
}
