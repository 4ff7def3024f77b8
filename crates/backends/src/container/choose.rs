//! Chooses between a new container and an existing one.

use mw_model::ContainerPlace;

use super::engine::Engine;
use super::existing::ExistingContainer;
use super::new_container::NewContainer;
use crate::driver::Attempt;
use crate::error::{PlaceError, Result};

/// Returns the back-end of one run.
pub(crate) fn backend(place: &ContainerPlace) -> Box<dyn Attempt> {
    match &place.container {
        Some(container) => Box::new(ExistingContainer::new(place, container)),
        None => Box::new(NewContainer::new(place)),
    }
}

/// Checks whether tasks can run in containers now. Returns which engine it is.
pub(crate) fn probe(place: &ContainerPlace) -> Result<String> {
    let engine = Engine::of(place);
    let version = engine.version()?;
    if let Some(container) = &place.container {
        return ExistingContainer::new(place, container).probe().map(|()| version);
    }
    let image = place.image.as_deref().unwrap_or_default();
    match engine.has_image(image)? || place.pull_missing {
        true => Ok(version),
        false => Err(PlaceError::Refused(format!("{version} has no image {image}, and pull is \"never\""))),
    }
}
