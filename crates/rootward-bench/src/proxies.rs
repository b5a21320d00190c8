//! nginx and HAProxy, with configurations of their own, that answer one path with a fixed text.
//!
//! One worker each, in the foreground, on a free port of loopback, no access log. The system's own instances and
//! configurations are not touched. The error of a function is a sentence for the table.

use std::net::SocketAddr;
use std::process::Command;

use crate::child::{Child, free_address};
use crate::rounds::{Contender, Serving};
use crate::temporary::Directory;

pub(crate) const NGINX: &str = "nginx return 200";
pub(crate) const HAPROXY: &str = "HAProxy return 200";

/// Starts nginx and waits until it answers.
pub(crate) async fn nginx(
    directory: &Directory,
    path: &'static str,
    body: &str,
) -> Result<Contender, String> {
    let address = free_address().map_err(|error| error.to_string())?;
    let home = directory.path().display();
    // By default it closes a connection after 1,000 requests; no other server here does.
    let configuration = format!(
        "daemon off; worker_processes 1; pid {home}/nginx.pid; error_log stderr;\n\
         events {{ worker_connections 256; }}\n\
         http {{\n\
           access_log off; server_tokens off; keepalive_requests 1000000000; keepalive_timeout 75s; tcp_nodelay on;\n\
           client_body_temp_path {home}/body; proxy_temp_path {home}/proxy; fastcgi_temp_path {home}/fastcgi;\n\
           uwsgi_temp_path {home}/uwsgi; scgi_temp_path {home}/scgi;\n\
           server {{ listen {address}; location = {path} {{\n\
             default_type application/json; add_header cache-control no-store; return 200 '{body}';\n\
           }} }}\n\
         }}\n"
    );
    let file = directory
        .write("nginx.conf", &configuration)
        .map_err(|error| error.to_string())?;
    let mut command = Command::new("nginx");
    command.arg("-e").arg("stderr").arg("-c").arg(file);
    command.arg("-p").arg(directory.path());
    start(NGINX, "nginx", &mut command, directory, address, path).await
}

/// Starts HAProxy and waits until it answers.
pub(crate) async fn haproxy(
    directory: &Directory,
    path: &'static str,
    body: &str,
) -> Result<Contender, String> {
    let address = free_address().map_err(|error| error.to_string())?;
    let text = directory
        .write("haproxy.body", body)
        .map_err(|error| error.to_string())?;
    let configuration = format!(
        "global\n  nbthread 1\n\
         defaults\n  mode http\n  timeout client 75s\n  timeout connect 5s\n  timeout server 5s\n\
         frontend probes\n  bind {address}\n\
         \x20 http-request return status 200 content-type application/json file {} hdr cache-control no-store if {{ path {path} }}\n\
         \x20 http-request deny\n",
        text.display()
    );
    let file = directory
        .write("haproxy.cfg", &configuration)
        .map_err(|error| error.to_string())?;
    let mut command = Command::new("haproxy");
    command.arg("-db").arg("-f").arg(file);
    start(HAPROXY, "haproxy", &mut command, directory, address, path).await
}

async fn start(
    name: &'static str,
    program: &'static str,
    command: &mut Command,
    directory: &Directory,
    address: SocketAddr,
    path: &'static str,
) -> Result<Contender, String> {
    let started = Child::start(program, command, directory);
    let mut child = started.map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => {
            format!("{program} is not installed (Debian package {program})")
        }
        _ => error.to_string(),
    })?;
    child
        .healthy(address, path)
        .await
        .map_err(|error| error.to_string())?;
    Ok(Contender {
        name,
        address,
        path,
        code: 200,
        serving: Serving::Program(child),
    })
}
