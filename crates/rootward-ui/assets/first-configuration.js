// The text that a newcomer copies; the same bytes as first-configuration.yaml, which a test compares.

export const FIRST_CONFIGURATION = `services:
- name: cart
  owner: team-shop
  health:
    url: http://127.0.0.1:8790/health
  dependencies:
  - {name: carts-db, criticality: hard, reason: no cart can be read without it}

resources:
- {name: carts-db, kind: postgresql}
`;
