//! Ten maps of the shapes that real systems have, as text.
//!
//! A line is `service: dependency dependency~ dependency?`, where `~` is a soft dependency and `?` an informational one.
//! What a node is stands in its name: `-db`, `-cache`, `-queue` and `-ext` are resources, the rest are services.

use std::collections::BTreeMap;

use super::{Plan, PlannedEdge};
use crate::scenario::{EdgeLabel, NodeKind};

/// A map as text.
#[derive(Debug, Clone, Copy)]
pub struct Shape {
    name: &'static str,
    text: &'static str,
}

impl Shape {
    /// The map that the text says.
    #[must_use]
    pub fn plan(&self) -> Plan {
        let mut nodes = Vec::new();
        let mut index = BTreeMap::new();
        let mut edges = Vec::new();
        let mut node = |name: &str, nodes: &mut Vec<(String, NodeKind)>| {
            *index.entry(name.to_owned()).or_insert_with(|| {
                nodes.push((name.to_owned(), kind(name)));
                nodes.len() - 1
            })
        };
        for line in self.text.lines() {
            let Some((from, to)) = line.split_once(':') else {
                continue;
            };
            let from = node(from.trim(), &mut nodes);
            for word in to.split_whitespace() {
                let (name, label) = match word.strip_suffix('~') {
                    Some(name) => (name, EdgeLabel::Soft),
                    None => match word.strip_suffix('?') {
                        Some(name) => (name, EdgeLabel::Informational),
                        None => (word, EdgeLabel::Hard),
                    },
                };
                let to = node(name, &mut nodes);
                let check = None;
                edges.push(PlannedEdge {
                    from,
                    to,
                    label,
                    check,
                });
            }
        }
        let name = self.name.to_owned();
        Plan { name, nodes, edges }
    }
}

fn kind(name: &str) -> NodeKind {
    match name.rsplit_once('-') {
        Some((_, "db")) => NodeKind::Database,
        Some((_, "cache")) => NodeKind::Cache,
        Some((_, "queue")) => NodeKind::Queue,
        Some((_, "ext")) => NodeKind::External,
        Some(_) | None => NodeKind::Service,
    }
}

/// The ten shapes, from small to large.
#[must_use]
pub fn shapes() -> &'static [Shape] {
    SHAPES
}

const SHAPES: &[Shape] = &[
    Shape {
        name: "boutique",
        text: "\
front: cart catalogue currency~ shipping~ recommend~ ads~ checkout
checkout: cart catalogue currency payment shipping email~
cart: cart-cache
recommend: catalogue
",
    },
    Shape {
        name: "robots",
        text: "\
web: catalogue user cart shipping~ payment ratings~
catalogue: catalogue-db
user: catalogue-db user-cache
cart: catalogue user-cache
shipping: cart ship-db
ratings: catalogue ship-db
payment: cart user order-queue
dispatch: order-queue
",
    },
    Shape {
        name: "socks",
        text: "\
edge: front
front: catalogue carts users orders session-cache
catalogue: catalogue-db
carts: carts-db
users: users-db
orders: carts users payment shipping orders-db
shipping: ship-queue
packer: ship-queue
",
    },
    Shape {
        name: "bank",
        text: "\
front: contacts userservice balance history~ ledger loans~
contacts: accounts-db
userservice: accounts-db
balance: ledger-db balance-cache~
history: ledger-db
ledger: ledger-db balance fraud~
loans: balance rates-ext loans-db
fraud: scores-db ledger
statements: history mail-ext
",
    },
    Shape {
        name: "hotel",
        text: "\
front: search profile recommend~ user reserve consul?
search: geo rate consul?
geo: geo-db consul?
rate: rate-db rate-cache
profile: profile-db profile-cache consul?
recommend: recommend-db
user: user-db
reserve: reserve-db reserve-cache user rate
",
    },
    Shape {
        name: "astronomy",
        text: "\
proxy: front images flagui~
front: ads~ cart catalogue currency~ checkout recommend~ shipping~
checkout: cart catalogue currency email~ payment shipping orders-queue flags~
accounting: orders-queue accounting-db
fraudcheck: orders-queue flags~
cart: cart-cache flags~
catalogue: flags~ catalogue-db
recommend: catalogue flags~
ads: flags~
payment: flags~ collector?
shipping: quote collector?
email: smtp-ext
flagui: flags
loadgen: proxy
",
    },
    Shape {
        name: "social",
        text: "\
gateway: compose hometl usertl user graph media~
compose: poststore usertl text uniqueid media~ user hometl-queue
text: urls mentions
urls: urls-db urls-cache
mentions: user user-cache
user: user-db user-cache graph
graph: graph-db graph-cache user
poststore: post-db post-cache
hometl: hometl-cache graph poststore
writer: hometl-queue hometl-cache graph
usertl: usertl-db usertl-cache poststore
media: media-db media-cache~ blobs-ext
tracer: trace-db
moderation: poststore text words-db
search: poststore index-db
",
    },
    Shape {
        name: "media",
        text: "\
gateway: page compose user rent~ streaming
page: info cast plot reviews~ photos~
info: info-db info-cache
cast: cast-db cast-cache
plot: plot-db plot-cache
photos: photo-db blobs-ext
reviews: store moviereviews userreviews
store: review-db review-cache
moviereviews: store mreview-db mreview-cache
userreviews: store ureview-db
compose: text uniqueid rating store moviereviews userreviews user
rating: rating-cache rating-db
user: user-db user-cache
rent: user billing-ext rent-db
streaming: user blobs-ext rent licences
licences: rent licence-db
text: words-cache
",
    },
    Shape {
        name: "parcels",
        text: "\
portal: track booking auth quotes~ help~
app: track booking auth
track: events-db events-cache geo~
booking: pricing routes capacity customers booking-db booking-queue
pricing: rates-db fx-ext
quotes: pricing routes
routes: routes-db geo capacity
capacity: capacity-db routes hubs
geo: maps-ext geo-cache
auth: auth-db auth-cache
customers: customers-db auth
hubs: hubs-db scanner-queue
scanner: scanner-queue events-db hubs
planner: routes capacity booking-queue planner-db
drivers: planner drivers-db geo push-ext~
billing: booking-db billing-db bank-ext
invoices: billing mail-ext
help: customers track~ bot-ext~
claims: billing customers claims-db
metrics: metrics-db
notify: booking-queue push-ext mail-ext
",
    },
    Shape {
        name: "railway",
        text: "\
ui: auth travel trains basic preserve order pay~ food~ news~ avatar~
auth: auth-db verify user
user: user-db auth
verify: verify-cache
trains: trains-db
stations: stations-db
routes: routes-db
prices: prices-db
configs: configs-db
basic: stations trains routes prices
seat: configs order travel
travel: trains routes basic seat travel-db
travelplan: travel seat routeplan
routeplan: travel routes stations
order: order-db stations
orderother: otherorder-db stations
contacts: contacts-db auth~
preserve: seat travel contacts security order assurance~ food~ consign~ user notify~
security: security-db order orderother
assurance: assurance-db
food: fooddelivery stationfood trainfood food-db
stationfood: stationfood-db
trainfood: trainfood-db
fooddelivery: delivery-db stationfood~
consign: consign-db consignprice
consignprice: consignprice-db
notify: mail-queue mail-ext~
pay: payment order orderother inside
payment: payment-db
inside: inside-db payment order
cancel: order orderother inside notify~ user
rebook: seat travel order inside contacts
execute: order orderother
adminorder: order orderother
adminroute: routes stations
admintravel: travel stations routes
wait: order contacts wait-db preserve
",
    },
];
