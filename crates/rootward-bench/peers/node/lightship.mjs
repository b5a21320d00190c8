// lightship, which brings a server of its own.
import { createLightship } from "lightship";

const lightship = await createLightship({ detectKubernetes: false, port: Number(process.env.PORT) });
lightship.signalReady();
